import type { CountRow, CountSink, CountTotals } from '../../engine/ports/read-state.ts';
import { formatPosition } from '../../model/position.ts';
import { wireThreadTotals } from '../../protocol/events.ts';
import { AsciiWriter } from './ascii-writer.ts';
import { BufferPool } from './buffer-pool.ts';
import { LAST_READ_AT, LATEST_AT, STAMP_WIDTH, TAIL_BYTES, Tails } from './count-tails.ts';

/**
 * Encodes the answer of client.counts as JSON bytes. A user may have a hundred thousand conversations, whose rows
 * take 28 MB. Therefore each row is written into a reused buffer as soon as it is counted, without an object or a
 * text of its own. A test compares each row with `countFields`, which defines its fields.
 */

/** Shared by all answers: rows of different users often have the same tail. */
const TAILS = new Tails();
const BUFFERS = new BufferPool();

/** The size of most rows, and the maximum: an id has up to 21 characters. */
const TYPICAL_ROW_BYTES = 288;
const ROW_BYTES = TAIL_BYTES + 64;
const ENVELOPE_BYTES = 1024;

const BEGINNING = '{"ok":true,"channels":[';
const ROW_BEGINNING = '{"id":"';
const COMMA = 44;

type ListName = 'channels' | 'mpims' | 'ims';

export class CountsEncoder implements CountSink {
	private capacity = ENVELOPE_BYTES;
	/** One writer per list; `mpims` and `ims` only if they occur. The writer of `channels` becomes the answer. */
	private readonly lists = new Map<ListName, AsciiWriter>();
	private channels = this.list('channels');
	/** Number of rows written. */
	rows = 0;

	begin(atMost: number): void {
		this.release();
		this.rows = 0;
		this.capacity = ENVELOPE_BYTES + atMost * TYPICAL_ROW_BYTES;
		this.channels = this.list('channels');
		this.channels.text(BEGINNING);
	}

	row(row: CountRow): void {
		const { kind } = row;
		this.rows += 1;
		if (kind === 'im') writeRow(this.list('ims'), row);
		else if (kind === 'mpim') writeRow(this.list('mpims'), row);
		else writeRow(this.channels, row);
	}

	/** Reserves room for all rows: memory that is not written to costs nothing. */
	private list(name: ListName): AsciiWriter {
		const existing = this.lists.get(name);
		if (existing) return existing;
		const made = new AsciiWriter(BUFFERS.take(this.capacity));
		this.lists.set(name, made);
		return made;
	}

	/** The whole answer; valid until `release`. */
	finish({ threads, badge, position }: CountTotals): Uint8Array<ArrayBuffer> {
		const { channels: answer, lists } = this;
		const threadsText = JSON.stringify(wireThreadTotals(threads));
		endList(answer);
		appendList(answer, 'mpims', lists.get('mpims'));
		appendList(answer, 'ims', lists.get('ims'));
		answer.reserve(ENVELOPE_BYTES);
		answer.text(`,"threads":${threadsText},"badge":${badge},"position":"${formatPosition(position)}"}`);
		return answer.written();
	}

	/** Returns the buffers to the pool. Call it once the answer was copied or is no longer needed. */
	release(): void {
		for (const { buffer } of this.lists.values()) BUFFERS.release(buffer);
		this.lists.clear();
	}
}

function writeRow(writer: AsciiWriter, row: CountRow): void {
	const tail = TAILS.of(row);
	writer.reserve(ROW_BYTES);
	writer.text(ROW_BEGINNING);
	writer.text(row.conversation);
	const at = writer.length;
	writer.copy(tail.bytes);
	writer.tsAt(at + LAST_READ_AT, row.lastRead);
	writer.tsAt(at + LATEST_AT, row.latest);
	writer.stampAt(at + tail.positionAt, row.position.conversation);
	writer.stampAt(at + tail.positionAt + STAMP_WIDTH, row.position.user);
}

/** Removes the comma after the last row. */
function endList(writer: AsciiWriter): void {
	writer.removeLast(COMMA);
	writer.text(']');
}

function appendList(answer: AsciiWriter, name: ListName, list: AsciiWriter | undefined): void {
	answer.reserve((list?.length ?? 0) + ENVELOPE_BYTES);
	answer.text(`,"${name}":[`);
	if (list) answer.copy(list.written());
	endList(answer);
}

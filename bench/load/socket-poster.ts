import type { Socket } from 'bun';
import type { LoadSpec, Quota } from './posts.ts';

/**
 * Sends `message` frames over one WebSocket, several in flight. It implements the protocol itself. Frames are copies of a
 * prepared buffer in which only the id changes; the mask is zeros, which leaves the data unchanged. One byte near the
 * start of an incoming frame distinguishes answers from events.
 */

const ID_DIGITS = 8;
const HEADER_BYTES = 8;
const ZERO = 48;
const PING = 9;
const PONG = 10;

export class SocketPoster {
	private rest: Buffer = Buffer.alloc(0);
	private upgraded = false;
	private open = false;
	private opened: () => void = () => undefined;
	private free: number;
	private readonly sentAt: Float64Array;
	private socket: Socket | undefined;
	private unsent: Buffer | undefined;

	private constructor(
		private readonly frame: Buffer,
		/** The offsets of the ids in the buffer. */
		private readonly idOffsets: readonly number[],
		inFlight: number,
		private nextId: number,
		private readonly quota: Quota,
	) {
		this.free = inFlight;
		this.sentAt = new Float64Array(1 << Math.ceil(Math.log2(inFlight * 2)));
	}

	static async open(
		spec: LoadSpec,
		{ channel, ticket, firstId }: LoadSpec['connections'][number],
		quota: Quota,
	): Promise<SocketPoster> {
		const id = '0'.repeat(ID_DIGITS);
		const text = JSON.stringify(spec.text);
		const idField = spec.clientMsgIds ? `,"client_msg_id":"${channel}${id}"` : '';
		const payload = `{"id":${id},"type":"message","channel":"${channel}","text":${text}${idField}}`;
		const idOffsets = [HEADER_BYTES + 6];
		if (spec.clientMsgIds) idOffsets.push(HEADER_BYTES + payload.length - 2 - ID_DIGITS);
		const poster = new SocketPoster(frameOf(payload), idOffsets, spec.inFlight, firstId, quota);
		const ready = new Promise<void>((resolve) => {
			poster.opened = resolve;
		});
		poster.socket = await Bun.connect({
			hostname: '127.0.0.1',
			port: spec.port,
			socket: {
				data: (_, bytes) => poster.take(bytes),
				drain: () => poster.drain(),
				close: () => poster.lost(),
			},
		});
		poster.socket.write(
			`GET /rtm?ticket=${ticket} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
				'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
		);
		await ready;
		return poster;
	}

	fill(): void {
		if (this.unsent) return;
		const count = this.quota.take(this.free);
		if (count === 0) return;
		this.free -= count;
		const { length } = this.frame;
		const frames = Buffer.allocUnsafe(length * count);
		const now = performance.now();
		for (let index = 0; index < count; index += 1) {
			this.nextId += 1;
			this.sentAt[this.nextId & (this.sentAt.length - 1)] = now;
			this.frame.copy(frames, index * length);
			for (const place of this.idOffsets) writeDigits(frames, index * length + place, this.nextId);
		}
		this.write(frames);
	}

	private write(bytes: Buffer): void {
		const written = this.socket?.write(bytes) ?? 0;
		this.unsent = written < bytes.length ? bytes.subarray(written) : undefined;
	}

	private drain(): void {
		if (this.unsent) this.write(this.unsent);
		this.fill();
	}

	private take(bytes: Buffer): void {
		let data = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
		if (!this.upgraded) {
			const end = data.indexOf('\r\n\r\n');
			if (end < 0) {
				this.rest = Buffer.from(data);
				return;
			}
			this.upgraded = true;
			data = data.subarray(end + 4);
		}
		const now = performance.now();
		let at = 0;
		while (at + 2 <= data.length) {
			const short = (data[at + 1] ?? 0) & 127;
			const start = at + (short === 126 ? 4 : 2);
			if (start > data.length) break;
			const end = start + (short === 126 ? data.readUInt16BE(at + 2) : short);
			if (end > data.length) break;
			if (((data[at] ?? 0) & 15) === PING) this.pong(data.subarray(start, end));
			else this.handleFrame(data, start, now);
			at = end;
		}
		this.rest = at === data.length ? Buffer.alloc(0) : Buffer.from(data.subarray(at));
		if (this.free > 0 && this.open) this.fill();
	}

	/** A client that leaves pings unanswered is disconnected. */
	private pong(payload: Buffer): void {
		const frame = Buffer.concat([Buffer.from([0x80 | PONG, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
		if (this.unsent) this.unsent = Buffer.concat([this.unsent, frame]);
		else this.write(frame);
	}

	/** `{"ok":true,"reply_to":10000001,…` is an answer; `{"type":…` an event. */
	private handleFrame(data: Buffer, start: number, now: number): void {
		if (!this.open) {
			// The first frame is the hello.
			this.open = true;
			this.opened();
			return;
		}
		if (data[start + 2] !== 111) return;
		const ok = data[start + 6] === 116;
		const id = readDigits(data, start + (ok ? 23 : 24));
		this.free += 1;
		this.quota.answered(ok, now - (this.sentAt[id & (this.sentAt.length - 1)] ?? now));
	}

	private lost(): void {
		process.exit(1);
	}
}

function frameOf(payload: string): Buffer {
	const length = Buffer.byteLength(payload);
	if (length < 126) throw new Error('the text is too short for the one frame format used here');
	return Buffer.concat([
		Buffer.from([0x81, 0x80 | 126, length >> 8, length & 255, 0, 0, 0, 0]),
		Buffer.from(payload),
	]);
}

function writeDigits(into: Buffer, at: number, number: number): void {
	let left = number;
	for (let place = at + ID_DIGITS - 1; place >= at; place -= 1) {
		into[place] = ZERO + (left % 10);
		left = Math.floor(left / 10);
	}
}

function readDigits(from: Buffer, at: number): number {
	let number = 0;
	for (let place = at; place < at + ID_DIGITS; place += 1)
		number = number * 10 + ((from[place] ?? ZERO) - ZERO);
	return number;
}

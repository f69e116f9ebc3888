import { Rejection } from '../../model/errors.ts';
import type { MemoryBudget } from '../memory-budget.ts';

/**
 * Sends large answers. Bun buffers what a client has not read yet. Therefore large answers are streamed: the stream
 * shows when the client has read them, and until then their size is reserved in the memory budget. A client that reads too
 * slowly is disconnected.
 */

const LARGE_BYTES = 64 * 1024;
const PIECE_BYTES = 256 * 1024;
const READ_TIMEOUT_MS = 120_000;

type Bytes = Uint8Array<ArrayBuffer>;

export const isLarge = (bytes: number): boolean => bytes > LARGE_BYTES;

/** Throws a Rejection if this receiver has too many unread answers. */
export function streamed(bytes: Bytes, holder: string, budget: MemoryBudget): ReadableStream<Bytes> {
	let cutOff: ((error: Error) => void) | undefined;
	const hold = budget.hold(holder, bytes.length, READ_TIMEOUT_MS, (reason) =>
		cutOff?.(new Error(`the client did not read the answer in time (${reason})`)),
	);
	if (!hold) throw new Rejection('ratelimited', 'read the earlier answers first: too many are unread', 1);
	let left: Bytes | null = bytes;
	let at = 0;
	const end = (): void => {
		left = null;
		hold.release();
	};
	return new ReadableStream<Bytes>({
		start(controller) {
			cutOff = (error) => {
				end();
				controller.error(error);
			};
		},
		pull(controller) {
			if (!left || at >= left.length) {
				end();
				controller.close();
				return;
			}
			controller.enqueue(left.subarray(at, at + PIECE_BYTES));
			at += PIECE_BYTES;
		},
		cancel: end,
	});
}

import { Refusal } from '../../model/errors.ts';
import type { MemoryBudget } from '../memory-budget.ts';

/**
 * Answers on their way out. Bun keeps what a client has not taken yet: a large answer is sent as a stream, so that it is known
 * how long it is kept, and memory for it is held until then. A client that takes too long is cut off.
 */

const LARGE_BYTES = 64 * 1024;
const PIECE_BYTES = 256 * 1024;
const TAKEN_WITHIN_MS = 120_000;

type Bytes = Uint8Array<ArrayBuffer>;

export const isLarge = (bytes: number): boolean => bytes > LARGE_BYTES;

/** Throws a Refusal where the holder has not taken earlier answers. */
export function streamed(bytes: Bytes, holder: string, budget: MemoryBudget): ReadableStream<Bytes> {
	let cutOff: ((error: Error) => void) | undefined;
	const hold = budget.hold(holder, bytes.length, TAKEN_WITHIN_MS, (reason) =>
		cutOff?.(new Error(`the client did not read the answer: ${reason}`)),
	);
	if (!hold) throw new Refusal('ratelimited', 'it has not read earlier answers yet', 1);
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

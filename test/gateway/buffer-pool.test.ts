import { expect, test } from 'bun:test';
import { BufferPool } from '../../src/gateway/http/buffer-pool.ts';

test('a returned buffer is reused for requests of at most its size', () => {
	const scratch = new BufferPool();
	const buffer = scratch.take(1000);
	expect(buffer.length).toBe(1000);
	scratch.release(buffer);
	expect(scratch.take(1001)).not.toBe(buffer);
	expect(scratch.take(500)).toBe(buffer);
});

test('a buffer in use is never handed out again', () => {
	const scratch = new BufferPool();
	scratch.release(scratch.take(1000));
	const first = scratch.take(1000);
	expect(scratch.take(1000)).not.toBe(first);
});

test('only a few buffers are kept: the largest ones, up to a limit', () => {
	const scratch = new BufferPool();
	const buffers = [1, 2, 3, 4, 5].map((size) => scratch.take(size));
	const huge = scratch.take(65 * 1024 * 1024);
	for (const buffer of [huge, ...buffers]) scratch.release(buffer);
	const kept = [2, 3, 4, 5].map((size) => scratch.take(size));
	expect(kept).toEqual(buffers.slice(1));
	expect(scratch.take(1)).not.toBe(buffers[0] as Buffer<ArrayBuffer>);
	expect(scratch.take(huge.length)).not.toBe(huge);
});

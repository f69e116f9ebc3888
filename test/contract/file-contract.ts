import { expect, test } from 'bun:test';
import type { FileContents } from '../../src/engine/ports/file-contents.ts';

/** What every file storage guarantees, tested through its port alone. */

const CHUNK = 128 * 1024;

async function* chunks(count: number, fails = false): AsyncGenerator<Uint8Array> {
	for (let index = 0; index < count; index += 1) yield new Uint8Array(CHUNK).fill(index);
	if (fails) throw new Error('the source failed');
}

export function fileContract(name: string, open: () => FileContents): void {
	const read = async (object: string, start: number, end: number): Promise<Uint8Array | null> => {
		const found = await open().read('FCONTENT', object, start, end);
		return found && new Uint8Array(await new Response(found).arrayBuffer());
	};

	test(`${name}: a written file can be read, also in parts`, async () => {
		await open().write('FCONTENT', 'small', chunks(1));
		// More than one part of a multipart upload.
		await open().write('FCONTENT', 'large', chunks(100));
		expect((await read('small', 0, CHUNK))?.length).toBe(CHUNK);
		expect(await read('large', 98 * CHUNK - 1, 98 * CHUNK + 1)).toEqual(new Uint8Array([97, 98]));
		expect((await read('large', 0, 100 * CHUNK))?.length).toBe(100 * CHUNK);
		expect(await read('missing', 0, 1)).toBeNull();
	});

	test(`${name}: a source that fails leaves no file`, async () => {
		for (const [object, count] of [
			['a', 1],
			['b', 100],
		] as const) {
			await expect(open().write('FCONTENT', object, chunks(count, true))).rejects.toThrow(
				'the source failed',
			);
			expect(await read(object, 0, 1)).toBeNull();
		}
	});

	test(`${name}: objects can be removed one by one, all but one, or all`, async () => {
		for (const object of ['one', 'two', 'three']) await open().write('FCONTENT', object, chunks(1));
		await open().discard('FCONTENT', 'one');
		await open().discard('FCONTENT', 'one');
		await open().write('FOTHER', 'one', chunks(1));
		await open().keepOnly('FCONTENT', 'two');
		expect([await read('one', 0, 1), await read('three', 0, 1)]).toEqual([null, null]);
		expect((await read('two', 0, 2))?.length).toBe(2);
		await open().remove('FCONTENT');
		await open().remove('FCONTENT');
		expect(await read('two', 0, 1)).toBeNull();
		expect(await open().read('FOTHER', 'one', 0, 1)).not.toBeNull();
	});
}

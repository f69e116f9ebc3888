import { expect, test } from 'bun:test';
import { BadMultipart, boundaryOf, fileOf } from '../../src/gateway/files/multipart.ts';
import { Random } from '../support/oracle/random.ts';

/** The file of a form, however the form is cut into chunks. */

async function* inChunks(bytes: Buffer, cut: () => number): AsyncGenerator<Uint8Array> {
	for (let start = 0; start < bytes.length; ) {
		const end = Math.min(bytes.length, start + cut());
		yield bytes.subarray(start, end);
		start = end;
	}
}

async function read(form: string | Buffer, cut: () => number = () => 7): Promise<string> {
	const parts: Uint8Array[] = [];
	for await (const chunk of fileOf(inChunks(Buffer.from(form), cut), 'BOUND')) parts.push(Buffer.from(chunk));
	return Buffer.concat(parts).toString('latin1');
}

const part = (headers: string, content: string): string => `--BOUND\r\n${headers}\r\n\r\n${content}\r\n`;
const FILE = 'Content-Disposition: form-data; name="body"; filename="a.txt"';
const END = '--BOUND--\r\n';

test('the boundary is read from the content type', () => {
	expect(boundaryOf('multipart/form-data; boundary=abc')).toBe('abc');
	expect(boundaryOf('Multipart/Form-Data; charset=x; boundary="a b"')).toBe('a b');
	expect(boundaryOf('application/octet-stream')).toBeNull();
	expect(() => boundaryOf('multipart/form-data')).toThrow(BadMultipart);
});

test('the first part with a file name is read, in chunks of any size', async () => {
	const random = new Random(7);
	const content = `\r\n--BOUN\r\n--BOUNX --BOUND ${'x'.repeat(300)}\r\n\r\n`;
	const form = `preamble\r\n${part('Content-Disposition: form-data; name="t"', 'text')}${part(FILE, content)}${part(FILE, 'second')}${END}`;
	for (let round = 0; round < 200; round += 1)
		expect(await read(form, () => 1 + random.below(round < 100 ? 8 : 500))).toBe(content);
	expect(await read(part(FILE, '') + END)).toBe('');
	expect(await read(part(`content-type: text/plain\r\n${FILE.toLowerCase()}`, 'lower') + END)).toBe('lower');
});

test('a body that is not a form is rejected', async () => {
	const bad = [
		'',
		'nothing like it',
		'--BOUND--\r\n',
		'--BOUNDx\r\n',
		part('Content-Disposition: form-data; name="t"', 'no file') + END,
		`--BOUND\r\n${FILE}\r\n\r\nwithout an end`,
		`--BOUND\r\n${'x: y\r\n'.repeat(5000)}${FILE}\r\n\r\nlong headers\r\n${END}`,
	];
	for (const form of bad) await expect(read(form)).rejects.toThrow(BadMultipart);
});

test('very many parts in one chunk take no more time than in small chunks', async () => {
	const form = Buffer.from(`${'--BOUND\r\n\r\n\r\n'.repeat(150_000)}${part(FILE, 'file')}${END}`);
	const timeOf = async (chunkBytes: number): Promise<number> => {
		const started = performance.now();
		expect(await read(form, () => chunkBytes)).toBe('file');
		return performance.now() - started;
	};
	const inSmallChunks = await timeOf(1024);
	expect(await timeOf(form.length)).toBeLessThan(4 * inSmallChunks);
});

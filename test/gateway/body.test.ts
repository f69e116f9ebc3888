import { describe, expect, test } from 'bun:test';
import { addForm, MAX_BODY_BYTES, readBody } from '../../src/gateway/http/body.ts';
import { rejectionOf } from './support.ts';

const post = (
	body: string | FormData | ReadableStream | null,
	contentType?: string,
	more: Record<string, string> = {},
): Request =>
	new Request('http://localhost/api/x', {
		method: 'POST',
		body,
		headers: { ...(contentType === undefined ? {} : { 'content-type': contentType }), ...more },
	});

const read = async (request: Request, query = '') =>
	Object.fromEntries(await readBody(addForm(new Map(), query), request));

const FORM = 'application/x-www-form-urlencoded';

describe('where arguments come from', () => {
	test('the query is read', async () => {
		const get = new Request('http://localhost/api/x?a=1&b=x+y', { method: 'GET' });
		expect(await read(get, 'a=1&b=x+y')).toEqual({ a: '1', b: 'x y' });
	});

	test('a form is read, and wins over the query', async () => {
		expect(await read(post('a=2&c=%C3%A9', FORM), 'a=1&b=1')).toEqual({ a: '2', b: '1', c: 'é' });
	});

	test('JSON is read with its types', async () => {
		const body = JSON.stringify({ a: 1, b: [true], c: null });
		expect(await read(post(body, 'application/json; charset=utf-8'))).toEqual({ a: 1, b: [true], c: null });
	});

	test('a multipart form is read', async () => {
		const form = new FormData();
		form.set('a', 'é');
		expect(await read(post(form))).toEqual({ a: 'é' });
	});

	test('a request without arguments has none', async () => {
		expect(await read(post(null))).toEqual({});
		expect(await read(post('', FORM))).toEqual({});
		expect(await read(post('', 'application/json'))).toEqual({});
	});
});

describe('a form is read as URLSearchParams reads it', () => {
	const forms = [
		'',
		'&',
		'a',
		'a=',
		'=b',
		'a=b=c',
		'a=1&&b=2&',
		'a=%26%3D%2B+%E2%82%AC',
		'a&b=1',
		'a=1&a=2',
		'%61=1',
	];
	test.each(forms)('%p', (text) => {
		expect([...addForm(new Map(), text)]).toEqual([...new Map(new URLSearchParams(text))]);
	});

	test('very many pairs, in a time of the same order', () => {
		const timeOf = (parse: () => unknown): number => {
			const { user, system } = process.cpuUsage();
			parse();
			const used = process.cpuUsage({ user, system });
			return used.user + used.system;
		};
		const text = 'a&'.repeat(MAX_BODY_BYTES / 2);
		const reference = timeOf(() => new Map(new URLSearchParams(text)));
		// A parser that takes quadratic time takes about 25 times as long.
		expect(timeOf(() => addForm(new Map(), text))).toBeLessThan(4 * reference);
	});
});

describe('what is rejected', () => {
	test('broken JSON, and JSON that is not an object', async () => {
		expect(await rejectionOf(() => read(post('{"a":', 'application/json')))).toBe('invalid_json');
		for (const body of ['[]', '5', 'null', '"x"'])
			expect(await rejectionOf(() => read(post(body, 'application/json')))).toBe('json_not_object');
	});

	test('broken forms', async () => {
		expect(await rejectionOf(() => read(post('a=%E2%82', FORM)))).toBe('invalid_form_data');
		expect(await rejectionOf(() => read(post('x', 'multipart/form-data; boundary=b')))).toBe(
			'invalid_form_data',
		);
	});

	test('other content types and charsets', async () => {
		expect(await rejectionOf(() => read(post('a=1', 'text/plain')))).toBe('invalid_post_type');
		expect(await rejectionOf(() => read(post('a=1', `${FORM}; charset=utf-16`)))).toBe('invalid_charset');
	});

	test('other verbs', async () => {
		const put = new Request('http://localhost/api/x', { method: 'PUT', body: 'a=1' });
		expect(await rejectionOf(() => read(put))).toBe('invalid_post_type');
	});

	test('a body that is too large, with or without a content length', async () => {
		const large = 'a'.repeat(MAX_BODY_BYTES + 1);
		expect(await rejectionOf(() => read(post(large, FORM)))).toBe('request_too_large');
		const declared = post('a=1', FORM, { 'content-length': String(MAX_BODY_BYTES + 1) });
		expect(await rejectionOf(() => read(declared))).toBe('request_too_large');
		const garbled = post('a=1', FORM, { 'content-length': 'many' });
		expect(await rejectionOf(() => read(garbled))).toBe('request_too_large');
	});

	test('an endless body is cut off while it is read', async () => {
		let sent = 0;
		const endless = new ReadableStream<Uint8Array>({
			pull(controller) {
				sent += 64 * 1024;
				controller.enqueue(new Uint8Array(64 * 1024));
			},
		});
		expect(await rejectionOf(() => read(post(endless, FORM)))).toBe('request_too_large');
		expect(sent).toBeLessThan(2 * MAX_BODY_BYTES);
	});
});

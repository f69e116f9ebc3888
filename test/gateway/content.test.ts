import { describe, expect, test } from 'bun:test';
import { cutText, encodeExtra, MAX_TEXT } from '../../src/gateway/http/message-content.ts';
import { socketUrl, webUrl } from '../../src/gateway/http/origin.ts';
import { rejectionOf } from './support.ts';

describe('texts that are too long', () => {
	test('are cut, never inside a character', () => {
		expect(cutText('a'.repeat(MAX_TEXT))).toEqual({ text: 'a'.repeat(MAX_TEXT), wasCut: false });
		expect(cutText('a'.repeat(MAX_TEXT + 1))).toEqual({ text: 'a'.repeat(MAX_TEXT), wasCut: true });
		const { text, wasCut } = cutText(`${'a'.repeat(MAX_TEXT - 1)}😀`);
		expect({ length: text.length, wasCut, whole: text.isWellFormed() }).toEqual({
			length: MAX_TEXT - 1,
			wasCut: true,
			whole: true,
		});
	});
});

describe('what a message carries besides its text', () => {
	test('is stored as JSON, without absent parts', () => {
		expect(encodeExtra({})).toBeNull();
		expect(encodeExtra({ blocks: [], attachments: [], metadata: {} })).toBeNull();
		expect(encodeExtra({ blocks: [{ type: 'divider' }], bot_id: 'B1' })).toBe(
			'{"blocks":[{"type":"divider"}],"bot_id":"B1"}',
		);
	});

	test('is limited in size', async () => {
		const blocks = [{ type: 'section', text: 'é'.repeat(60_000) }];
		expect(await rejectionOf(() => encodeExtra({ blocks }))).toBe('msg_blocks_too_long');
	});
});

describe('addresses in answers', () => {
	const request = (headers: Record<string, string>, url = 'http://inside:8080/api/x') =>
		new Request(url, { headers });

	test('use the host that the caller used', () => {
		expect(socketUrl(request({ host: 'chat.example.com' }), 't1')).toBe('ws://chat.example.com/rtm/t1');
		expect(webUrl(request({ host: '[::1]:8080' }))).toBe('http://[::1]:8080/');
	});

	test('use https behind a proxy that does', () => {
		const proxied = request({ host: 'chat.example.com', 'x-forwarded-proto': 'https, http' });
		expect(socketUrl(proxied, 't1')).toBe('wss://chat.example.com/rtm/t1');
		expect(webUrl(proxied)).toBe('https://chat.example.com/');
		expect(webUrl(request({ host: 'inside' }, 'https://inside/api/x'))).toBe('https://inside/');
	});

	test('are not built from an invalid Host header', async () => {
		for (const host of ['evil.example/path?', '[', 'a b', ''])
			expect(await rejectionOf(() => webUrl(request({ host })))).toBe('invalid_arguments');
	});
});

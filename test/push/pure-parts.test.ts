import { expect, test } from 'bun:test';
import { backOffMs, parseRetryAfter } from '../../src/push/backoff.ts';
import { CachedToken } from '../../src/push/cached-token.ts';
import { notificationContent } from '../../src/push/content.ts';
import { message } from '../support/store/facts.ts';

/** The pure parts of push. */

test('the wait doubles, is random, has an upper bound, and is never shorter than requested', () => {
	const shortest = [1, 2, 3, 20].map((attempts) => backOffMs(attempts, () => 0));
	const longest = [1, 2, 3, 20].map((attempts) => backOffMs(attempts, () => 1));
	expect(shortest).toEqual([500, 1_000, 2_000, 150_000]);
	expect(longest).toEqual([1_000, 2_000, 4_000, 300_000]);
	expect(backOffMs(1, () => 0, 7_000)).toBe(7_000);
});

test('Retry-After is read in seconds or as a date, and otherwise ignored', () => {
	const now = Date.parse('2026-01-01T00:00:00Z');
	expect(parseRetryAfter('12', now)).toBe(12_000);
	expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now)).toBe(30_000);
	expect(parseRetryAfter('soon', now)).toBeUndefined();
	expect(parseRetryAfter('', now)).toBeUndefined();
});

test('a provider token is created once for many requests, again before it expires, and again after a failure', async () => {
	let now = 0;
	let made = 0;
	let fails = false;
	const token = new CachedToken(
		async () => {
			made += 1;
			if (fails) throw new Error('no');
			return { token: `token-${made}`, forMs: 45 * 60_000 };
		},
		() => now,
	);
	expect(await Promise.all([token.get(), token.get()])).toEqual(['token-1', 'token-1']);
	now = 45 * 60_000 - 1;
	expect(await token.get()).toBe('token-1');
	now += 1;
	expect(await token.get()).toBe('token-2');
	token.drop();
	fails = true;
	await expect(token.get()).rejects.toThrow('no');
	fails = false;
	expect(await token.get()).toBe('token-4');
});

test('a notification names author and channel, and shows the text without markup, cut to 240 characters', () => {
	const anna = { id: 'U01', name: 'anna', realName: 'Anna Berg' };
	const people = new Map([['U01', anna as never]]);
	const shown = (text: string, conversation = { kind: 'public' as const, name: 'team' }) =>
		notificationContent(message('C01', 1, { user: 'U01', text }), { conversation, people });
	expect(shown('<!here> see <https://example.org/|this> &lt;now&gt; <@U99>')).toEqual({
		title: 'Anna Berg in #team',
		body: '@here see this <now> @Somebody',
	});
	expect(shown('x'.repeat(5_000)).body).toHaveLength(240);
	expect(shown('').body).toBe('…');
	expect(shown(' ').body).toBe('…');
});

test('a message without a text shows the text of its blocks, else the fallback of its attachments', () => {
	const body = (extra: unknown, text = '') =>
		notificationContent(message('C01', 1, { text, extra: JSON.stringify(extra) }), {
			conversation: undefined,
			people: new Map([['U01', { id: 'U01', name: 'anna', realName: 'Anna Berg' } as never]]),
		}).body;
	const rich = [
		{ type: 'text', text: 'ask ' },
		{ type: 'user', user_id: 'U01' },
		{ type: 'text', text: ' ' },
		{ type: 'emoji', name: 'tada' },
		{ type: 'link', url: 'https://example.org/' },
	];
	const blocks = [
		{ type: 'header', text: { type: 'plain_text', text: 'Deploy' } },
		{ type: 'divider' },
		{
			type: 'section',
			text: { type: 'mrkdwn', text: 'of <https://example.org/|web>' },
			fields: [{ text: 'ok' }],
		},
		{ type: 'image', image_url: 'https://example.org/i.png', alt_text: 'a boat' },
		{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: rich }] },
	];
	expect(body({ blocks })).toBe('Deploy of web ok a boat ask @Anna Berg :tada:https://example.org/');
	expect(body({ blocks }, 'the text')).toBe('the text');
	expect(
		body({
			attachments: [
				{ fallback: 'Build 7', text: 'not this' },
				{ title: 'T', text: 'x' },
			],
		}),
	).toBe('Build 7 T x');
	expect(body({ blocks: [{ type: 'file' }], metadata: { text: 'not this' } })).toBe('…');
});

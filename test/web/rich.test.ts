import { describe, expect, test } from 'bun:test';
import type { User } from '../../client/src/index.ts';
import { type MessageContent, wordsOf } from '../../web/src/message/content.ts';
import { namedIn, plainText } from '../../web/src/message/plain-text.ts';
import { partsOf } from '../../web/src/message/rich/blocks.ts';
import { cardsOf } from '../../web/src/message/rich/cards.ts';

/** Blocks and attachments: how they are rendered, and how a list shows them. Without a browser. */

const words = (text: string) => [{ kind: 'text' as const, text }];
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const plain = (text: string) => ({ type: 'plain_text', text });
const link = (href: string, text: string) => ({ kind: 'link' as const, href, text });
const ada: User = {
	id: 'U1',
	name: 'ada',
	realName: 'Ada Lovelace',
	isBot: false,
	isDeleted: false,
	photo: null,
};
const line = (content: Partial<MessageContent>) =>
	plainText(wordsOf({ text: '', ...content }), new Map([['U1', ada]]));

describe('blocks', () => {
	test('headers, sections with fields, context, dividers and images are rendered in order', () => {
		expect(
			partsOf([
				{ type: 'header', text: plain('Deploy *1* &amp; 2 :tada:') },
				{ type: 'section', text: mrkdwn('*done* by <@U1>'), fields: [mrkdwn('`a`'), plain('b')] },
				{ type: 'divider' },
				{
					type: 'context',
					elements: [
						{ type: 'image', image_url: 'https://e.org/i.png', alt_text: 'a boat' },
						plain('at noon'),
					],
				},
				{ type: 'image', image_url: 'https://e.org/j.png', alt_text: '', title: plain('Harbour') },
			]),
		).toEqual([
			{ kind: 'header', words: words('Deploy *1* & 2 🎉') },
			{
				kind: 'words',
				words: [
					{ kind: 'bold', pieces: words('done') },
					{ kind: 'text', text: ' by ' },
					{ kind: 'user', id: 'U1' },
				],
			},
			{
				kind: 'fields',
				fields: [
					{ title: [], words: [{ kind: 'code', text: 'a' }], isShort: true },
					{ title: [], words: words('b'), isShort: true },
				],
			},
			{ kind: 'divider' },
			{ kind: 'context', items: [[link('https://e.org/i.png', 'Image: a boat')], words('at noon')] },
			{ kind: 'words', words: [link('https://e.org/j.png', 'Image: Harbour')] },
		]);
	});

	test('rich text has styles, links, people, lists, quotes and code', () => {
		const text = (text: string, style = {}) => ({ type: 'text', text, style });
		const section = (...elements: object[]) => ({ type: 'rich_text_section', elements });
		expect(
			partsOf([
				{
					type: 'rich_text',
					elements: [
						section(
							text('both', { bold: true, italic: true }),
							text('x < 1', { code: true }),
							{ type: 'link', url: 'https://e.org/', text: 'a page' },
							{ type: 'user', user_id: 'U1' },
							{ type: 'broadcast', range: 'here' },
							{ type: 'emoji', name: 'tada' },
							{ type: 'emoji', name: 'ours' },
						),
						{
							type: 'rich_text_list',
							style: 'ordered',
							indent: 1,
							offset: 2,
							elements: [section(text('one')), section(text('two'))],
						},
						{ type: 'rich_text_quote', elements: [text('said')] },
						{ type: 'rich_text_preformatted', elements: [text('let a;\n'), text('a = 1')] },
					],
				},
			]),
		).toEqual([
			{
				kind: 'words',
				words: [
					{ kind: 'italic', pieces: [{ kind: 'bold', pieces: words('both') }] },
					{ kind: 'code', text: 'x < 1' },
					link('https://e.org/', 'a page'),
					{ kind: 'user', id: 'U1' },
					{ kind: 'everyone', text: '@here' },
					{ kind: 'text', text: '🎉' },
					{ kind: 'text', text: ':ours:' },
				],
			},
			{ kind: 'list', items: [words('one'), words('two')], from: 3, indent: 1 },
			{ kind: 'quote', words: words('said') },
			{ kind: 'words', words: [{ kind: 'block', text: 'let a;\na = 1' }] },
		]);
	});

	test('unsupported controls show their label; controls that only open a page are links', () => {
		expect(
			partsOf([
				{
					type: 'actions',
					elements: [
						{ type: 'button', text: plain('Approve') },
						{ type: 'button', text: plain('Look'), url: 'https://e.org/run' },
						{ type: 'static_select', placeholder: plain('Choose') },
						{ type: 'overflow', options: [{ text: plain('a') }, { text: plain('b') }] },
					],
				},
			]),
		).toEqual([
			{
				kind: 'controls',
				items: [words('Approve'), [link('https://e.org/run', 'Look')], words('Choose'), words('a, b')],
			},
		]);
	});

	test('unknown blocks show all their texts; blocks without text, and invalid ones, show a placeholder', () => {
		const table = {
			type: 'table',
			rows: [[{ type: 'raw_text', text: '*a*' }], [{ type: 'raw_text', text: 'b' }]],
		};
		expect(partsOf([table])).toEqual([
			{ kind: 'words', words: words('*a*') },
			{ kind: 'words', words: words('b') },
		]);
		let deep: unknown = plain('too deep');
		for (let level = 0; level < 5_000; level += 1) deep = [deep];
		const nonsense = [
			{},
			null,
			7,
			[],
			{ type: 'constructor' },
			{ type: 'section', text: 7, fields: {} },
			{ type: 'context', elements: [null, {}] },
			{ type: 'rich_text', elements: [{ type: 'rich_text_section' }, null] },
			{ type: 'file', source: 'remote' },
			{ type: 'new', deep },
		];
		expect(partsOf(nonsense)).toEqual(nonsense.map(() => ({ kind: 'unknown' })));
	});
});

describe('attachments', () => {
	test('have colour, pretext, title with link, text, fields, footer and time', () => {
		expect(
			cardsOf([
				{
					color: 'good',
					pretext: 'see *this*',
					author_name: 'CI',
					title: 'Build 7',
					title_link: 'https://e.org/7',
					text: 'all <https://e.org/t|green>',
					fields: [{ title: 'Host', value: '`a`', short: true }],
					thumb_url: 'https://e.org/t.png',
					footer: 'robot',
					ts: 1700000000,
					fallback: 'Build 7: green',
				},
			]),
		).toEqual([
			{
				colour: 'good',
				pretext: [
					{ kind: 'text', text: 'see ' },
					{ kind: 'bold', pieces: words('this') },
				],
				author: words('CI'),
				title: [link('https://e.org/7', 'Build 7')],
				parts: [
					{ kind: 'words', words: [{ kind: 'text', text: 'all ' }, link('https://e.org/t', 'green')] },
					{
						kind: 'fields',
						fields: [{ title: words('Host'), words: [{ kind: 'code', text: 'a' }], isShort: true }],
					},
					{ kind: 'words', words: [link('https://e.org/t.png', 'Image')] },
				],
				footer: words('robot'),
				ts: '1700000000',
			},
		]);
	});

	test('blocks replace the other fields; the fallback is used if there is nothing else; there is always something', () => {
		const bodies = cardsOf([
			{ color: '36a64f', blocks: [{ type: 'header', text: plain('In blocks') }], text: 'not this' },
			{ fallback: 'instead' },
			{ color: 'red;background:url(x)', ts: 1e300 },
		]);
		expect(bodies.map(({ parts }) => parts)).toEqual([
			[{ kind: 'header', words: words('In blocks') }],
			[{ kind: 'words', words: words('instead') }],
			[{ kind: 'unknown' }],
		]);
		expect(bodies.map(({ colour, ts }) => [colour, ts])).toEqual([
			['#36a64f', null],
			[null, null],
			[null, null],
		]);
	});
});

test('only http and https addresses become links, wherever an address is', () => {
	const bad = 'javascript:alert(1)';
	const drawn = JSON.stringify([
		partsOf([
			{ type: 'image', image_url: bad, alt_text: 'a' },
			{ type: 'actions', elements: [{ type: 'button', text: plain('b'), url: bad }] },
			{
				type: 'rich_text',
				elements: [{ type: 'rich_text_section', elements: [{ type: 'link', url: bad, text: 'c' }] }],
			},
			{ type: 'section', text: mrkdwn(`<${bad}|d>`) },
		]),
		cardsOf([
			{
				title: 'e',
				title_link: ` ${bad}`,
				author_name: 'f',
				author_link: 'data:text/html,x',
				image_url: bad,
			},
		]),
	]);
	expect(drawn).not.toContain('"link"');
	expect(drawn).not.toContain('href');
});

test('one line shows the text, else the texts of blocks, else the fallback or content of attachments', () => {
	const blocks = [
		{ type: 'header', text: plain('Deploy') },
		{ type: 'divider' },
		{ type: 'section', text: mrkdwn('of *web* by <@U1>'), fields: [plain('ok')] },
	];
	expect(line({ text: 'the text', blocks })).toBe('the text');
	expect(line({ blocks })).toBe('Deploy of web by @Ada Lovelace ok');
	expect(namedIn(wordsOf({ text: '', blocks }))).toEqual(['U1']);
	expect(
		line({
			blocks: null,
			attachments: [
				{ fallback: 'Build 7', title: 'not this' },
				{ title: 'Shown', text: 'too' },
			],
		}),
	).toBe('Build 7 Shown too');
	expect(line({ blocks: [{ type: 'file' }] })).toBe('(this part cannot be shown here)');
	expect(line({})).toBe('');
});

import { expect, test } from 'bun:test';
import { byIdAndName, linkNames, writtenNames } from '../../src/model/link-names.ts';

const users = new Map([
	['ada', 'U1'],
	['ada.l', 'U2'],
	['å-b', 'U3'],
]);
const channels = new Map([['quay', 'C1']]);

const cases: [string, string][] = [
	['@ada', '<@U1>'],
	['hi @ada, (@ada) and @ada.', 'hi <@U1>, (<@U1>) and <@U1>.'],
	['@ada.l. @å-b-', '<@U2>. <@U3>-'],
	['see #quay!', 'see <#C1|quay>!'],
	['@channel @here @everyone', '<!channel> <!here> <!everyone>'],
	['mail a@ada, x#quay, @adam, #pier', 'mail a@ada, x#quay, @adam, #pier'],
	[
		'`@ada` ```\n@ada\n``` <@U1|@ada> <https://a/#quay>',
		'`@ada` ```\n@ada\n``` <@U1|@ada> <https://a/#quay>',
	],
	['@constructor #toString', '@constructor #toString'],
];
test.each(cases)('%s', (text, linked) => {
	expect(linkNames(text, users, channels)).toBe(linked);
});

test('mentions can have the name', () => {
	expect(linkNames('@ada in #quay, @channel @bo', users, channels, byIdAndName)).toBe(
		'<@U1|ada> in <#C1|quay>, <!channel> @bo',
	);
});

test('each name is looked up once, up to a limit', () => {
	expect(writtenNames('@ada #quay @ada `@bo`')).toEqual({ users: ['ada'], channels: ['quay'] });
	const many = Array.from({ length: 500 }, (_, index) => `@n${index}`).join(' ');
	expect(writtenNames(many).users).toHaveLength(100);
});

test('markup that never closes is parsed in linear time', () => {
	const long = `${'<'.repeat(20_000)} ${'`'.repeat(20_000)} ${'@'.repeat(20_000)}`;
	expect(linkNames(long, users, channels)).toBe(long);
});

import { describe, expect, test } from 'bun:test';
import { parseMentions } from '../../src/model/mentions.ts';

describe('mentions in a text', () => {
	test('users are named, with and without a label, each once', () => {
		expect(parseMentions('<@U01AB> and <@U01AB|ada> and <@W02CD>').users).toEqual(['U01AB', 'W02CD']);
	});

	test('closed code mentions nobody; unclosed code is text', () => {
		expect(parseMentions('`<@U01AB>` ```\n<!channel>\n```')).toEqual({
			users: [],
			channelWide: false,
			here: false,
		});
		expect(parseMentions('`<@U01AB> and <!here>')).toMatchObject({ users: ['U01AB'], here: true });
	});

	test('a text of unclosed markup is parsed in linear time', () => {
		// Searching to the end for each of these would block the server for a second.
		for (const opening of ['<@UAB|', '<!channel|', '<!here|', '`<@U', '```<@UAB'])
			expect(parseMentions(opening.repeat(40_000 / opening.length)).users).toEqual([]);
	});
});

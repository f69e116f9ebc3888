import { describe, expect, test } from 'bun:test';
import { parseMentions } from '../../src/model/mentions.ts';

describe('whom a text speaks to', () => {
	test('names, with and without a label, each once', () => {
		expect(parseMentions('<@U01AB> and <@U01AB|ada> and <@W02CD>').users).toEqual(['U01AB', 'W02CD']);
	});

	test('what stands in closed code mentions nobody; what never closes is text', () => {
		expect(parseMentions('`<@U01AB>` ```\n<!channel>\n```')).toEqual({
			users: [],
			channelWide: false,
			here: false,
		});
		expect(parseMentions('`<@U01AB> and <!here>')).toMatchObject({ users: ['U01AB'], here: true });
	});

	test('a text made of openings that never close is read in one go', () => {
		// Each of these, searched to the end anew, would take the server for a second.
		for (const opening of ['<@UAB|', '<!channel|', '<!here|', '`<@U', '```<@UAB'])
			expect(parseMentions(opening.repeat(40_000 / opening.length)).users).toEqual([]);
	});
});

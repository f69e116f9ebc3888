import { expect, test } from 'bun:test';
import { checkChannelName } from '../../src/model/channel-name.ts';
import { storable } from '../../src/model/text.ts';

/** Names of channels, and texts that a database can store. */

test.each([
	['general', undefined],
	['a-1_b', undefined],
	['日本語', undefined],
	['grün', undefined],
	['x'.repeat(80), undefined],
	['', 'invalid_name_required'],
	['x'.repeat(81), 'invalid_name_maxlength'],
	['-_-', 'invalid_name_punctuation'],
	['General', 'invalid_name_specials'],
	['two words', 'invalid_name_specials'],
	['a.b', 'invalid_name_specials'],
	['a\n', 'invalid_name_specials'],
	['🌊', 'invalid_name_specials'],
] as const)('channel name %p: error %p', (name, error) => expect(checkChannelName(name)).toBe(error));

test('lone surrogates and zero bytes are replaced, everything else stays', () => {
	expect(storable('a\0b')).toBe('a\uFFFDb');
	expect(storable('\uD83C')).toBe('\uFFFD');
	expect(storable('🌊 grün\n')).toBe('🌊 grün\n');
});

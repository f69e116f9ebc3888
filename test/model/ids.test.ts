import { expect, test } from 'bun:test';
import {
	directId,
	generalChannelOf,
	isConversationId,
	isTeamId,
	isUserId,
	newId,
	SLACKBOT_ID,
} from '../../src/model/ids.ts';

/** The format of ids, and when two are equal. */

const digest = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest();

test('every letter is equally likely: bytes that would favour some letters are skipped', () => {
	const bytes = [255, 252, 251, 35, 36, 0];
	expect(newId('C', () => Uint8Array.from(bytes))).toBe('CZZ00ZZ00ZZ');
});

test('a direct message has one id, whatever the order and number of its members', () => {
	const id = directId('im', 'T01', ['U01', 'U02'], digest);
	expect(id).toMatch(/^D[0-9A-Z]{10}$/);
	expect(directId('im', 'T01', ['U02', 'U01', 'U02'], digest)).toBe(id);
	expect(directId('im', 'T02', ['U01', 'U02'], digest)).not.toBe(id);
	expect(directId('im', 'T01', ['U01', 'U03'], digest)).not.toBe(id);
	expect(directId('mpim', 'T01', ['U01', 'U02', 'U03'], digest)).toMatch(/^G/);
});

test('users whose concatenated ids are equal have different direct messages', () => {
	expect(directId('im', 'T01', ['U1', 'U2U3'], digest)).not.toBe(
		directId('im', 'T01', ['U1U2', 'U3'], digest),
	);
});

test('the first letter of an id gives its kind', () => {
	expect(
		['T01', 'U01', 'C01', 'D01', 'G01', SLACKBOT_ID].map((id) => [
			isTeamId(id),
			isUserId(id),
			isConversationId(id),
		]),
	).toEqual([
		[true, false, false],
		[false, true, false],
		[false, false, true],
		[false, false, true],
		[false, false, true],
		[false, true, false],
	]);
	for (const text of ['', 'C', 'C1', 'c01', 'C01 ', 'C01\n', `C${'0'.repeat(21)}`])
		expect([text, isConversationId(text)]).toEqual([text, false]);
});

test('a new channel never gets the id of the general channel', () => {
	const general = generalChannelOf('T0123456789');
	expect(isConversationId(general)).toBe(true);
	expect(general.length).toBeGreaterThan(newId('C', () => new Uint8Array(20)).length);
});

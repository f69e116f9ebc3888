import { describe, expect, test } from 'bun:test';
import type { Invite } from '../../../src/engine/ports/invites.ts';
import type { Page } from '../../../src/engine/ports/store.ts';
import type { Subject } from './contract.ts';
import { BEGIN, conversation, created, TEAM, token, user } from './facts.ts';

/** Workspaces, users, tokens and invites in a store. */

const MINUTE = 60_000_000;

/** Reads all pages; all but the last must be full. */
export async function allPages<T>(
	limit: number,
	page: (after: string | null) => Promise<Page<T>>,
): Promise<T[]> {
	const found: T[] = [];
	for (let after: string | null = null; ; ) {
		const { items, next }: Page<T> = await page(after);
		found.push(...items);
		if (next === null) return found;
		expect(items).toHaveLength(limit);
		after = next;
	}
}

export function accountCases(subject: Subject): void {
	describe('accounts', () => {
		test('a workspace is found after it was created, and another is not', async () => {
			const { directory } = subject.store;
			const team = { id: TEAM, name: 'Tide', domain: 'tide', createdTs: BEGIN };
			await directory.createTeam(team);
			expect(await directory.team(TEAM)).toEqual(team);
			expect(await directory.team('T99')).toBeNull();
		});

		test('a name belongs to one user of a workspace, and may be used in other workspaces', async () => {
			const { directory } = subject.store;
			const taken = await Promise.all([
				directory.createUser(user('U01', { name: 'ann', isBot: true })),
				directory.createUser(user('U02', { name: 'ann' })),
				directory.createUser(user('U03', { name: 'ann', team: 'T02' })),
			]);
			expect(taken).toEqual([true, false, true]);
			const found = await directory.users(['U03', 'U01', 'U02', 'U99']);
			expect(found).toEqual([
				user('U01', { name: 'ann', isBot: true }),
				user('U03', { name: 'ann', team: 'T02' }),
			]);
			expect(await directory.users([])).toEqual([]);
		});

		test('users are listed in pages, and the last page says so', async () => {
			const { directory } = subject.store;
			const ids = ['U01', 'U02', 'U03', 'U04'];
			for (const id of ids) await directory.createUser(user(id));
			await directory.createUser(user('U05', { team: 'T02' }));
			const listed = await allPages(2, (after) => directory.usersOf(TEAM, after, 2));
			expect(listed.map(({ id }) => id)).toEqual(ids);
			expect((await directory.usersOf(TEAM, 'U02', 2)).next).toBeNull();
			expect(await directory.usersOf('T99', null, 2)).toEqual({ items: [], next: null });
		});

		test('workspace changes list users by their newest change and public channels by their creation, from a given point on', async () => {
			const { directory, ledger, workspaceChanges } = subject.store;
			for (const [id, at] of [
				['U01', 1],
				['U02', 2],
				['U03', 2],
			] as const)
				await directory.createUser(user(id, { updatedTs: BEGIN + at }));
			await directory.createUser(user('U04', { team: 'T02', updatedTs: BEGIN + 2 }));
			await directory.setProfile('U01', {}, 'Ann', BEGIN + 5);
			const changed = async (at: number, id: string, limit = 10) =>
				(await workspaceChanges.users(TEAM, [BEGIN + at, id], limit)).map((change) => [
					change.user.id,
					change.isNew,
				]);
			expect(await changed(0, '')).toEqual([
				['U02', true],
				['U03', true],
				['U01', false],
			]);
			expect(await changed(2, 'U02', 1)).toEqual([['U03', true]]);
			expect(await changed(5, 'U01')).toEqual([]);
			const channel = (id: string, at: number, more = {}) =>
				created(conversation(id, { createdTs: BEGIN + at, ...more }), ['U01'], BEGIN + at);
			await ledger.commit([
				channel('C02', 6),
				channel('C01', 7),
				channel('C03', 8, { kind: 'private' }),
				channel('C04', 9, { team: 'T02' }),
			]);
			const channels = async (at: number, id: string) =>
				(await workspaceChanges.channels(TEAM, [BEGIN + at, id], 10)).map((one) => one.id);
			expect(await channels(0, '')).toEqual(['C02', 'C01']);
			expect(await channels(6, 'C02')).toEqual(['C01']);
		});

		test('users are found by name and by address, with the profile that they set', async () => {
			const { directory } = subject.store;
			await directory.createUser(user('U01', { email: 'Ann@Example.org' }));
			await directory.createUser(user('U02', { email: 'ben@example.org', deleted: true }));
			await directory.createUser(user('U03', { team: 'T02', email: 'ann@example.org', name: 'u01' }));
			await directory.createUser(user('U04', { email: '' }));
			const named = await directory.usersNamed(TEAM, ['u01', 'u02', 'u99']);
			expect(named.map(({ id }) => id)).toEqual(['U01', 'U02']);
			expect(await directory.usersNamed(TEAM, [])).toEqual([]);
			expect((await directory.userWithEmail(TEAM, 'ANN@example.org'))?.id).toBe('U01');
			for (const email of ['ben@example.org', '', 'x'])
				expect(await directory.userWithEmail(TEAM, email)).toBeNull();
			const profile = { status_text: 'at “sea”', status_expiration: 7 };
			await directory.setProfile('U01', profile, 'Ann', BEGIN + 5);
			await directory.snooze('U01', BEGIN + 9);
			expect(await directory.users(['U01'])).toEqual([
				user('U01', {
					email: 'Ann@Example.org',
					realName: 'Ann',
					updatedTs: BEGIN + 5,
					snoozedUntilTs: BEGIN + 9,
					profile,
				}),
			]);
		});

		test('tokens of a user are listed in pages, and found by the start of their hash', async () => {
			const { directory } = subject.store;
			const hashes = ['aa11', 'aa22', 'bb11', 'cc11'];
			for (const hash of hashes) await directory.createToken(token(hash, 'U01'));
			await directory.createToken({ ...token('dd11', 'U02'), expiresTs: BEGIN + 9 });
			const listed = await allPages(2, (after) => directory.tokensOf('U01', after, 2));
			expect(listed.map(({ hash }) => hash)).toEqual(hashes);
			expect((await directory.tokensOf('U02', null, 9)).items).toMatchObject([{ expiresTs: BEGIN + 9 }]);
			expect(await directory.tokenStarting('bb')).toEqual(token('bb11', 'U01'));
			for (const start of ['aa', 'b2', 'ff']) expect(await directory.tokenStarting(start)).toBeNull();
		});

		test('active tokens are found, newest first, however many others the user has', async () => {
			const { directory } = subject.store;
			await directory.createToken({ ...token('aa', 'U01'), expiresTs: BEGIN + 9 });
			await directory.createToken(token('bb', 'U01'));
			await directory.revokeToken('bb', BEGIN + 1);
			await directory.createToken({ ...token('cc', 'U01'), expiresTs: BEGIN + 10 });
			await directory.createToken({ ...token('dd', 'U01'), createdTs: BEGIN + 2 });
			await directory.createToken(token('ee', 'U02'));
			const active = async (limit: number) =>
				(await directory.activeTokensOf('U01', BEGIN + 9, limit)).map(({ hash }) => hash);
			expect(await active(9)).toEqual(['dd', 'cc']);
			expect(await active(1)).toEqual(['dd']);
		});

		test('signing out revokes every token of the user, and is recorded for JWTs', async () => {
			const { directory } = subject.store;
			for (const id of ['U01', 'U02']) await directory.createUser(user(id));
			for (const [hash, of] of [
				['aa', 'U01'],
				['bb', 'U01'],
				['cc', 'U02'],
			] as const)
				await directory.createToken(token(hash, of));
			await directory.revokeToken('bb', BEGIN + 1);
			await directory.signOut('U01', BEGIN + 5);
			await directory.signOut('U01', BEGIN + 4);
			const revoked = await Promise.all(['aa', 'bb', 'cc'].map((hash) => directory.token(hash)));
			expect(revoked.map((one) => one?.revokedTs)).toEqual([BEGIN + 5, BEGIN + 1, null]);
			expect(await directory.users(['U01', 'U02'])).toEqual([
				user('U01', { signedOutTs: BEGIN + 5 }),
				user('U02'),
			]);
		});

		test('deactivation revokes the tokens and removes the devices of a user; reactivation does not restore them', async () => {
			const { directory, push } = subject.store;
			for (const id of ['U01', 'U02']) await directory.createUser(user(id));
			await directory.createToken(token('aa', 'U01'));
			const device = { platform: 'apns', app: '', addedTs: BEGIN } as const;
			for (const of of ['U01', 'U02'])
				await push.devices.add({ ...device, id: `P${of}`, user: of, token: of });
			await directory.deactivateUser('U01', BEGIN + 5, BEGIN + 3);
			await directory.deactivateUser('U01', BEGIN + 6, BEGIN + 4);
			expect(await directory.users(['U01'])).toEqual([
				user('U01', { deleted: true, updatedTs: BEGIN + 5, signedOutTs: BEGIN + 4 }),
			]);
			expect((await directory.token('aa'))?.revokedTs).toBe(BEGIN + 3);
			expect(await push.devices.ofUser('U01')).toEqual([]);
			expect(await push.devices.ofUser('U02')).toHaveLength(1);
			await directory.reactivateUser('U01', BEGIN + 7);
			expect(await directory.users(['U01'])).toEqual([
				user('U01', { updatedTs: BEGIN + 7, signedOutTs: BEGIN + 4 }),
			]);
			expect((await directory.token('aa'))?.revokedTs).toBe(BEGIN + 3);
		});

		test('if several processes set a workspace’s secret at once, one succeeds, and the secret stays', async () => {
			const { directory } = subject.store;
			await directory.createTeam({ id: TEAM, name: 'Acme', domain: 'acme', createdTs: BEGIN });
			const given = await Promise.all(
				['one', 'two', 'three'].map((secret) => directory.teamSecret(TEAM, secret)),
			);
			expect(new Set(given).size).toBe(1);
			expect(await directory.teamSecret(TEAM, 'four')).toBe(given[0] as string);
			expect(await directory.teamSecret('T99', 'five').catch((error: unknown) => error)).toMatchObject({
				code: 'team_not_found',
			});
		});

		test('workspaces are listed by id, in pages', async () => {
			const { directory } = subject.store;
			const teams = ['T01', 'T02', 'T03'].map((id) => ({ id, name: id, domain: id, createdTs: BEGIN }));
			for (const team of teams) await directory.createTeam(team);
			expect(await allPages(2, (after) => directory.teams(after, 2))).toEqual(teams);
		});

		const invite = (hash: string, of: string | null = null): Invite => ({
			hash,
			team: TEAM,
			user: of,
			createdTs: BEGIN,
			expiresTs: BEGIN + MINUTE,
			revokedTs: null,
			usedTs: null,
			label: `for ${hash}`,
			creator: of,
		});
		const onDevice = (hash: string, of: string) => ({ ...token(hash, of), device: 'Laptop' });

		test('if several clients use an invite at once, one gets a token, and only that user exists', async () => {
			const { directory } = subject.store;
			await directory.createInvite(invite('i1'));
			const ids = ['U01', 'U02', 'U03'];
			const outcomes = await Promise.all(
				ids.map((id) => directory.acceptInvite('i1', onDevice(`t${id}`, id), user(id, { name: id }))),
			);
			expect(outcomes.toSorted()).toEqual(['accepted', 'used', 'used']);
			const accepted = ids[outcomes.indexOf('accepted')] as string;
			expect((await directory.users(ids)).map(({ id }) => id)).toEqual([accepted]);
			expect(await directory.token(`t${accepted}`)).toEqual(onDevice(`t${accepted}`, accepted));
			expect((await directory.tokensOf(accepted, null, 9)).items).toHaveLength(1);
			expect((await directory.invite('i1'))?.usedTs).toBe(BEGIN);
		});

		test('a taken name leaves the invite usable; a revoked invite admits nobody', async () => {
			const { directory } = subject.store;
			await directory.createUser(user('U01', { name: 'mia' }));
			for (const hash of ['i1', 'i2']) await directory.createInvite(invite(hash));
			const mia = user('U02', { name: 'mia' });
			expect(await directory.acceptInvite('i1', token('t1', 'U02'), mia)).toBe('name_taken');
			expect(await directory.invite('i1')).toEqual(invite('i1'));
			expect(await directory.token('t1')).toBeNull();
			const tom = user('U02', { name: 'tom' });
			expect(await directory.acceptInvite('i1', token('t2', 'U02'), tom)).toBe('accepted');
			await directory.revokeInvite('i2', BEGIN + 1);
			expect(await directory.acceptInvite('i2', token('t3', 'U03'), user('U03'))).toBe('used');
			expect(await directory.users(['U03'])).toEqual([]);
			expect(
				(await allPages(1, (after) => directory.invitesOf(TEAM, after, 1))).map(({ hash }) => hash),
			).toEqual(['i1', 'i2']);
			expect((await directory.inviteStarting('i2'))?.revokedTs).toBe(BEGIN + 1);
			expect(await directory.inviteStarting('i')).toBeNull();
		});

		test('an invite for an existing user signs in that user', async () => {
			const { directory } = subject.store;
			await directory.createUser(user('U01'));
			await directory.createInvite(invite('i1', 'U01'));
			expect(await directory.acceptInvite('i1', onDevice('t1', 'U01'), null)).toBe('accepted');
			expect(await directory.token('t1')).toEqual(onDevice('t1', 'U01'));
			expect(await directory.acceptInvite('i1', onDevice('t2', 'U01'), null)).toBe('used');
			await directory.createInvite(invite('i2', 'U01'));
			await directory.signOut('U01', BEGIN + 1);
			expect(await directory.acceptInvite('i2', onDevice('t3', 'U01'), null)).toBe('used');
		});

		test('a preference belongs to one user and one name, and an empty value removes it', async () => {
			const { directory } = subject.store;
			expect(await directory.preferences('U01')).toEqual(new Map());
			await Promise.all([
				directory.setPreference('U01', 'favourite.C01', '1'),
				directory.setPreference('U01', 'favourite.C02', '1'),
				directory.setPreference('U02', 'favourite.C01', 'of another'),
			]);
			await directory.setPreference('U01', 'favourite.C02', '“two”');
			expect(await directory.preferences('U01')).toEqual(
				new Map([
					['favourite.C01', '1'],
					['favourite.C02', '“two”'],
				]),
			);
			await directory.setPreference('U01', 'favourite.C01', '');
			expect([...(await directory.preferences('U01')).keys()]).toEqual(['favourite.C02']);
			expect((await directory.preferences('U02')).get('favourite.C01')).toBe('of another');
		});

		test('the last use of a token only rises, and survives revocation', async () => {
			const { directory } = subject.store;
			for (const hash of ['aa', 'bb', 'cc']) await directory.createToken(token(hash, 'U01'));
			await directory.noteTokenUse([
				{ hash: 'aa', at: BEGIN + 5 },
				{ hash: 'bb', at: BEGIN + 7 },
			]);
			await directory.noteTokenUse([{ hash: 'aa', at: BEGIN + 4 }]);
			await directory.revokeToken('aa', BEGIN + 9);
			const { items } = await directory.tokensOf('U01', null, 9);
			expect(items.map(({ lastUsedTs }) => lastUsedTs)).toEqual([BEGIN + 5, BEGIN + 7, undefined]);
		});

		test('a revoked token stays, with the time of its first revocation', async () => {
			const { directory } = subject.store;
			await directory.createToken(token('aa', 'U01'));
			expect(await directory.token('aa')).toEqual(token('aa', 'U01'));
			await directory.revokeToken('aa', BEGIN + 1);
			await directory.revokeToken('aa', BEGIN + 2);
			expect((await directory.token('aa'))?.revokedTs).toBe(BEGIN + 1);
			expect(await directory.token('bb')).toBeNull();
		});
	});
}

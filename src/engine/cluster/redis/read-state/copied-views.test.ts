import { expect, test } from 'bun:test';
import { Numbering } from '../../../../model/numbering.ts';
import { countRow } from '../../../../model/rows.ts';
import { ofConversation } from '../../../../unread/queries.ts';
import type { Guard, GuardPoint } from '../epoch-guard.ts';
import type { ConversationCopies } from './conversation-copies.ts';
import { ConversationCopy } from './conversation-copy.ts';
import { CopiedViews } from './copied-views.ts';
import { membershipField, packMembership, STAMP } from './packing.ts';
import type { UserCopies } from './user-copies.ts';
import { UserCopy } from './user-copy.ts';

/** A row combines cursor and messages of one moment, whatever happens between reading the user and reading the conversation. */

const numbering = new Numbering();
const context = { userNumbers: numbering, conversationNumbers: new Numbering(), starts: [], isStamped: true };
const NOTHING = { memberships: [], ahead: [], follows: [], activity: [], stamp: 0 };

/** Redis is never lost. */
const POINT: GuardPoint = { ms: 0, slots: [], epochs: [], tokenOf: () => ['', ''] };
const GUARD = {
	beginInSlots: async () => POINT,
	verify: async () => undefined,
	retrying: (work: () => unknown) => work(),
	onNewEpoch: () => undefined,
} as unknown as Guard;

const userAt = (stamp: number, cursor: number): UserCopy => {
	const membership = { member: true, muted: false, level: 'all', revision: 0, joined: 1 } as const;
	const packed = packMembership({ ...membership, cursor, at: stamp, ahead: new Set() });
	const user = new UserCopy('U01', context, NOTHING, '');
	user.update(String(stamp), [
		[STAMP, String(stamp)],
		[membershipField('C01'), packed],
	]);
	return user;
};

const postAt = (stamp: number, ts: number): string => `${stamp} post;${ts};U02;0;;1;0`;

/** A conversation of twenty messages, at 1 to 20, and a user; `atUpdate` runs at each update of the conversation. */
function world(atUpdate: (update: number, post: () => void) => void) {
	const copy = new ConversationCopy('C01', numbering);
	const answer = (mode: string, at: number, ...commands: string[]) =>
		copy.applyAnswer([mode, String(at), 'b', '0', '0', '0', '0', ...commands]);
	const posts = Array.from({ length: 20 }, (_, index) => postAt(index + 1, index + 1));
	answer('w', 100, '0 create;public;0', ...posts);
	copy.load(undefined);
	answer('d', 100);
	let stamp = 100;
	const post = () => {
		stamp += 1;
		const ts = copy.timeline.latest + 1;
		answer('d', stamp, postAt(stamp, ts));
	};
	const user = userAt(50, 5);
	const state = { user, known: user, userReads: 0, updates: 0 };
	const users = {
		context,
		makeRoom: () => false,
		peek: () => state.known,
		read: async () => {
			state.userReads += 1;
			state.known = state.user;
			return state.user;
		},
	};
	const conversations = {
		copiesOf: () => [copy],
		update: async () => {
			const before = copy.stateNumber;
			state.updates += 1;
			await Bun.sleep(0);
			atUpdate(state.updates, post);
			return { copies: [copy], haveChanged: () => copy.stateNumber !== before };
		},
	};
	const views = new CopiedViews(
		GUARD,
		users as unknown as UserCopies,
		conversations as unknown as ConversationCopies,
	);
	const time = { stamp: 0, horizon: 0, leftSince: 0 };
	const query = ofConversation('C01', countRow);
	const row = () => views.read('U01', query, time, query.answer);
	return { state, row };
}

test('if nothing changed, one read is enough', async () => {
	const { state, row } = world(() => undefined);
	expect(await row()).toMatchObject({ unread: 15, position: { conversation: 100, user: 50 } });
	expect([state.updates, state.userReads]).toEqual([1, 1]);
});

test('if a message arrived, the user is read again after it, and a mark that arrived as well is in the row', async () => {
	const quiet = world((_, post) => post());
	expect(await quiet.row()).toMatchObject({ unread: 16, position: { conversation: 101, user: 50 } });
	expect([quiet.state.updates, quiet.state.userReads]).toEqual([1, 2]);
	const { state, row } = world((update, post) => {
		if (update > 1) return;
		post();
		state.user = userAt(60, 15);
	});
	expect(await row()).toMatchObject({ unread: 6, lastRead: 15, position: { conversation: 101, user: 60 } });
});

test('a user who marks without a pause still gets a row, a user who left gets none', async () => {
	const { state, row } = world((update, post) => {
		post();
		state.user = userAt(60 + update, 5);
	});
	expect((await row())?.unread).toBeGreaterThan(15);
	expect(state.updates).toBeLessThanOrEqual(11);
	const left = world(() => undefined);
	left.state.user = new UserCopy('U01', context, NOTHING, '');
	expect(await left.row()).toBeNull();
});

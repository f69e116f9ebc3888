import { expect, test } from 'bun:test';
import type { ConversationBrief, Ledger, StateSource, UserReadState } from '../../ports/store.ts';
import { InboxIndex } from './inbox-index.ts';
import { Residents } from './residents.ts';

const ADA = 'U0000000001';
const [OLD, NEW] = ['C0000000001', 'C0000000002'] as const;
const NOTHING: UserReadState = { memberships: [], ahead: [], follows: [], activity: [], stamp: 0 };
const LEDGER: Ledger = {
	commit: async () => undefined,
	flushed: async () => undefined,
	durable: () => Number.POSITIVE_INFINITY,
};

const residentsOn = (source: Partial<StateSource>): Residents =>
	new Residents(source as StateSource, LEDGER, () => 0);

test('a user who changes at any moment of a load is loaded with the change', async () => {
	for (let moment = 0; moment < 20; moment += 1) {
		let stored = 0;
		const residents = residentsOn({ user: async () => ({ ...NOTHING, stamp: stored }) });
		const loading = residents.user(ADA);
		for (let turn = 0; turn < moment; turn += 1) await Promise.resolve();
		if (!residents.peekUser(ADA)) {
			stored = 1;
			residents.noteUnloadedChange(ADA, stored);
		}
		expect([moment, (await loading).stamp]).toEqual([moment, stored]);
	}
});

test('a conversation that was dropped gets its place in a cached inbox from the store', async () => {
	const latest = { [OLD]: 10, [NEW]: 20 };
	const brief = (id: string): ConversationBrief => {
		const ts = latest[id as keyof typeof latest];
		return { id, team: 'T01', kind: 'public', archived: false, latest: ts, stamp: ts };
	};
	const membership = (conversation: string) => ({
		conversation,
		member: true,
		muted: false,
		level: 'all' as const,
		revision: 0,
		cursor: 0,
		joinedTs: 1,
		changedTs: 1,
		preferredTs: 0,
	});
	const residents = residentsOn({
		user: async () => ({ ...NOTHING, memberships: [membership(OLD), membership(NEW)] }),
		briefs: async (ids) => ids.map(brief),
	});
	const user = await residents.user(ADA);
	await residents.complete(user);
	const inbox = new InboxIndex(user, residents);
	const order = () => inbox.newest(null, 10).map(({ id }) => id);
	expect(order()).toEqual([NEW, OLD]);
	latest[OLD] = 30;
	const old = await residents.conversation(OLD);
	expect(old && residents.dropConversation(old)).toBe(true);
	await residents.complete(user);
	expect(order()).toEqual([OLD, NEW]);
});

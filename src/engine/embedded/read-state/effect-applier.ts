import { isCaughtUp } from '../../../model/counting.ts';
import { checkInvariant } from '../../../model/invariants.ts';
import { NOTHING_AHEAD } from '../../../model/views.ts';
import type { Effect } from '../../../sequencer/effects.ts';
import type { ReadFact } from '../../ports/facts.ts';
import type { Change } from '../../ports/views.ts';
import { changesOf, effectsByCommand } from '../../read-state/changes.ts';
import { applyChange, applySteps, type StepContext, stepsOf } from '../../read-state/user-steps.ts';
import type { ResidentConversation, Residents, ResidentUser } from './residents.ts';

/**
 * Applies effects to the views in memory, command by command, and returns the cursors that they moved. Synchronous: `prepare` has
 * loaded everything that a command needs. `stored`: the store has all changes up to this stamp.
 */
export function applyEffects(
	residents: Residents,
	effects: readonly Effect[],
	stored: number,
): readonly ReadFact[] {
	const facts: ReadFact[] = [];
	for (const command of effectsByCommand(effects))
		applyToUsers(residents, applyToConversation(residents, command, stored), command, facts);
	return facts;
}

function applyToUsers(
	residents: Residents,
	conversation: ResidentConversation,
	effects: readonly Effect[],
	facts: ReadFact[],
): void {
	const { id, stamp } = conversation;
	for (const [user, steps] of stepsOf(effects)) {
		const loaded = residents.peekUser(user);
		if (!loaded) {
			residents.noteUnloadedChange(user, stamp);
			continue;
		}
		const moved = applySteps(loaded, steps, contextOf(conversation, loaded));
		// A post that moves no cursor changes nothing about its author.
		if (moved.length > 0 || steps.some(({ type }) => type !== 'post')) loaded.stamp = stamp;
		for (const { by, threadTs, ahead } of moved)
			if (by === 'post') facts.push(cursorFact(loaded, id, threadTs, ahead, stamp));
	}
}

function applyToConversation(
	residents: Residents,
	effects: readonly Effect[],
	stored: number,
): ResidentConversation {
	const [first] = effects as [Effect];
	const { id } = first.conversation;
	if (first.type === 'created') residents.add({ ...first.conversation, stamp: first.at, latest: 0 });
	const conversation = residents.peekConversation(residents.conversationNumbers.peek(id) ?? -1);
	if (!conversation) throw new Error(`cannot apply ${first.type} to ${id}: it is not loaded`);
	checkInvariant('view_never_goes_back', first.at >= conversation.stamp);
	residents.journal.add(conversation.number);
	const wasArchived = conversation.archived;
	conversation.apply(changesOf(effects));
	conversation.trim(stored);
	// Its entries were not loaded while it was archived: readers must check again what is loaded.
	if (wasArchived && !conversation.archived) residents.disruptions += 1;
	return conversation;
}

const contextOf = ({ timeline, threads }: ResidentConversation, { number }: ResidentUser): StepContext => ({
	isNew: () => true,
	wasCaughtUp: ({ message }, root, cursor, ahead) => {
		const list = root === null ? timeline : threads.get(root);
		return list !== undefined && isCaughtUp(list, { number, cursor, ahead }, message.ts) === true;
	},
});

/** Applies a change of a user; returns the fact for the store. */
export function applyUserChange(user: ResidentUser, change: Change, at: number): ReadFact {
	if (change.type === 'activity') {
		// It changes no count, so the stamp of the read state stays.
		user.activity.add(at, change.active);
		return { ...change, user: user.id, at };
	}
	const { conversation } = change;
	const ahead = user.membership(conversation)?.ahead ?? NOTHING_AHEAD;
	applyChange(user, change, at);
	user.stamp = at;
	if (change.type === 'preference') return { ...change, user: user.id, at };
	return cursorFact(user, conversation, change.type === 'cursor' ? null : change.threadTs, ahead, at);
}

/** The current cursor of the user, in the timeline or in a thread. */
function cursorFact(
	user: ResidentUser,
	conversation: string,
	threadTs: number | null,
	aheadBefore: ReadonlySet<number>,
	at: number,
): ReadFact {
	const { id } = user;
	if (threadTs !== null) {
		const cursor = user.follow(conversation, threadTs)?.cursor ?? 0;
		return { user: id, conversation, at, type: 'thread_cursor', threadTs, cursor };
	}
	const { cursor = 0, revision = 0, ahead = aheadBefore } = user.membership(conversation) ?? {};
	const fact = { user: id, conversation, at, type: 'cursor', cursor, revision } as const;
	if (aheadBefore.size === 0 && ahead.size === 0) return fact;
	return { ...fact, ...aheadChange(aheadBefore, cursor, ahead) };
}

/** The difference between two ahead sets, as the store needs it. */
function aheadChange(
	before: ReadonlySet<number>,
	cursor: number,
	after: ReadonlySet<number>,
): { ahead?: object } {
	const add = [...after].filter((ts) => !before.has(ts));
	const dropped = [...before].filter((ts) => !after.has(ts));
	if (add.length === 0 && dropped.length === 0) return {};
	const beyond = dropped.filter((ts) => ts > cursor);
	return {
		ahead: {
			...(beyond.length < dropped.length ? { dropUpTo: cursor } : {}),
			...(beyond.length > 0 ? { dropFrom: beyond.reduce((a, b) => Math.min(a, b)) } : {}),
			...(add.length > 0 ? { add } : {}),
		},
	};
}

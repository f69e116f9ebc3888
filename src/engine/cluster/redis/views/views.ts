import type { Timeline } from '../../../../model/timeline.ts';
import type { Fence } from '../fence.ts';
import type { Follow, Membership } from '../read-state/packing.ts';
import { followIn } from '../read-state/user-state.ts';
import type { ConversationCopy } from './conversation-copy.ts';
import {
	type ConversationViews,
	type Copies,
	type Held,
	NO_THREADS,
	type Wanted,
} from './conversation-views.ts';
import type { Depths } from './depths.ts';
import { lacksThreads, type TooShort, tooShort } from './lacking.ts';
import type { UserCopy } from './user-copy.ts';
import type { UserViews } from './user-views.ts';

/**
 * Users and conversations as this process has them, brought up to date before each use.
 *
 * They lie in different slots, so nothing reads both at once. But a row that has the messages of now and the mark of before would win
 * over the one that has the mark. So the two have to have been as they are at one moment: where neither changed since it was
 * asked, that is the moment of asking; where a conversation did, the user is looked at once more after it.
 */

export interface Place {
	readonly user: UserCopy;
	readonly conversation: ConversationCopy;
	readonly membership: Membership;
}

export interface ThreadPlace {
	readonly user: UserCopy;
	readonly conversation: ConversationCopy;
	readonly threadTs: number;
	readonly thread: Timeline;
	readonly follow: Follow;
}

/** Somebody who marks without a pause gets a row all the same. */
const MOST_TRIES = 5;

/** After which ts entries are wanted, given the cursor. */
export type BackTo = (cursor: number) => number;
const toCursor: BackTo = (cursor) => cursor;

/** Copies that are brought further back at the same time, for one look. */
const REACHED_AT_ONCE = 4;

/** What is to be known of conversations, by the user's own state. */
type WantedOf = (user: UserCopy) => readonly Wanted[];

export class Views {
	private epoch = '';

	constructor(
		private readonly users: UserViews,
		private readonly conversations: ConversationViews,
		private readonly depths: Depths,
		private readonly fence: Fence,
	) {}

	/**
	 * Calls `use` with the user and what is wanted then, each of one moment; again where they turn out not to be. `use` does all of
	 * its work in that turn: later the copies may be others.
	 */
	async look<T>(
		id: string,
		wantedOf: WantedOf,
		use: (user: UserCopy, copies: Copies) => T,
		atOnce: 'at once' | 'each as it is' = 'at once',
	): Promise<T> {
		await this.beOfThisEpoch();
		const held: Held = new Map();
		for (let tries = 1; ; ) {
			const before = this.users.peek(id) ?? (await this.users.look(id));
			const wanted = wantedOf(before);
			const [user, looked] = await Promise.all([
				this.users.look(id),
				this.conversations.look(wanted, before.numbering, held),
			]);
			const isLast = tries === MOST_TRIES;
			if (!user.isSameAs(before) && !isLast) {
				tries += 1;
				continue;
			}
			const short = tooShort(wanted, looked.copies);
			if (short.length > 0) {
				await this.reachAll(short, held);
				continue;
			}
			// Somebody else's look may have taken a copy again, without threads, while this one waited.
			if (lacksThreads(wanted, looked.copies)) continue;
			const result = use(before, looked.copies);
			if (isLast || atOnce !== 'at once' || !looked.haveChanged()) return result;
			if ((await this.users.look(id)).isSameAs(before)) return result;
			tries += 1;
		}
	}

	/** One conversation as it is, by itself; null where there is none. `known` is a copy that the caller has. */
	async conversation(wanted: Wanted, known?: ConversationCopy): Promise<ConversationCopy | null> {
		await this.beOfThisEpoch();
		const held: Held = new Map(known ? [[known.id, known]] : []);
		for (;;) {
			const { copies } = await this.conversations.look([wanted], this.users.numbering, held);
			if (!lacksThreads([wanted], copies)) return copies[0] ?? null;
		}
	}

	/** At least a step further back. */
	async reach(copy: ConversationCopy, back: number): Promise<void> {
		await this.depths.reach(copy, back);
		this.conversations.grown(copy);
	}

	/** What was reached is held until it is used, also where it is too much to be kept. */
	private async reachAll(short: readonly TooShort[], held: Held): Promise<void> {
		const left = [...short];
		const reachSome = async () => {
			for (let next = left.pop(); next; next = left.pop()) {
				held.set(next.copy.id, next.copy);
				await this.reach(next.copy, next.back);
			}
		};
		await Promise.all(Array.from({ length: REACHED_AT_ONCE }, reachSome));
	}

	/** Calls `use` with the place, with the entries after `backTo` of the cursor; answers null where the user is no member. */
	at<T>(
		user: string,
		conversation: string,
		use: (place: Place) => T,
		{ backTo = toCursor, atOnce }: { readonly backTo?: BackTo; readonly atOnce?: 'each as it is' } = {},
	): Promise<T | null> {
		return this.look(
			user,
			(copy) => {
				const membership = copy.membership(conversation);
				if (!membership?.member) return [];
				const wanted = { id: conversation, threads: NO_THREADS, archivedToo: true };
				return [{ ...wanted, back: backTo(membership.cursor) }];
			},
			(copy, copies) => onPlace(copy, conversation, copies[0], use),
			atOnce,
		);
	}

	/** As `at`, without any entries. */
	member<T>(user: string, conversation: string, use: (place: Place) => T): Promise<T | null> {
		return this.look(
			user,
			(copy) =>
				copy.membership(conversation)?.member ? [{ id: conversation, back: null, threads: NO_THREADS }] : [],
			(copy, copies) => onPlace(copy, conversation, copies[0], use),
		);
	}

	/** Answers null where the user does not follow it. */
	inThread<T>(
		user: string,
		conversation: string,
		threadTs: number,
		use: (place: ThreadPlace) => T,
		atOnce?: 'each as it is',
	): Promise<T | null> {
		return this.look(
			user,
			(copy) =>
				followIn(copy.fields, conversation, threadTs)
					? [{ id: conversation, back: null, threads: [threadTs] }]
					: [],
			(copy, [found]) => {
				const follow = followIn(copy.fields, conversation, threadTs);
				const thread = found?.threads.get(threadTs);
				if (!found || !follow || !thread) return null;
				return use({ user: copy, conversation: found, threadTs, thread, follow });
			},
			atOnce,
		);
	}

	/** With every conversation that the user is in, archived ones included; back to the cursors, or without any entries. */
	places<T>(
		user: string,
		depth: 'cursors' | 'none',
		use: (user: UserCopy, places: readonly Place[]) => T,
	): Promise<T> {
		return this.look(
			user,
			(copy) =>
				copy.memberships.flatMap(({ conversation, membership: { member, cursor } }) =>
					member ? [{ id: conversation, back: depth === 'none' ? null : cursor, threads: NO_THREADS }] : [],
				),
			(copy, copies) => use(copy, placesOf(copy, copies)),
		);
	}

	/** As `places`, with the threads that the user follows, of conversations that are not archived. */
	everywhere<T>(
		user: string,
		use: (user: UserCopy, places: readonly Place[], threads: readonly ThreadPlace[]) => T,
	): Promise<T> {
		return this.look(user, everythingOf, (copy, copies) => {
			const byId = new Map(copies.flatMap((found) => (found ? [[found.id, found]] : [])));
			const threads = copy.follows.flatMap(({ conversation: of, threadTs, follow }) => {
				const conversation = byId.get(of);
				const thread = conversation?.threads.get(threadTs);
				if (!conversation || !thread || conversation.archived) return [];
				return [{ user: copy, conversation, threadTs, thread, follow }];
			});
			return use(copy, placesOf(copy, copies), threads);
		});
	}

	/** Another epoch has nothing of the one before. */
	private async beOfThisEpoch(): Promise<void> {
		const { epoch } = await this.fence.since();
		if (epoch === this.epoch && !this.users.isFull) return;
		this.epoch = epoch;
		this.users.clear();
		this.conversations.clear();
	}
}

function everythingOf({ memberships, follows }: UserCopy): Wanted[] {
	const followed = Map.groupBy(follows, ({ conversation }) => conversation);
	const wanted: Wanted[] = [];
	for (const { conversation, membership } of memberships) {
		if (!membership.member) continue;
		const threads = followed.get(conversation)?.map(({ threadTs }) => threadTs) ?? NO_THREADS;
		wanted.push({ id: conversation, back: membership.cursor, threads });
	}
	return wanted;
}

/** Of conversations that were wanted in the order of the user's memberships. */
function placesOf(user: UserCopy, copies: Copies): Place[] {
	const places: Place[] = [];
	let index = 0;
	for (const { membership } of user.memberships) {
		if (!membership.member) continue;
		const conversation = copies[index];
		index += 1;
		if (conversation) places.push({ user, conversation, membership });
	}
	return places;
}

function onPlace<T>(
	user: UserCopy,
	id: string,
	conversation: ConversationCopy | null | undefined,
	use: (place: Place) => T,
): T | null {
	const membership = user.membership(id);
	return conversation && membership?.member ? use({ user, conversation, membership }) : null;
}

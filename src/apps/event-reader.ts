import type { Changes, InsideChanges, MemberChange } from '../engine/ports/changes.ts';
import type { Directory, History, StateSource } from '../engine/ports/store.ts';
import { rootsOf, summariesOf } from '../protocol/stored-events.ts';
import type { ThreadSummary } from '../sequencer/effects.ts';
import { type AppEvent, appEventsOf, type EventSubscriber, type StoredChanges } from './app-events.ts';

/**
 * Reads an app's events of one conversation from the store, from a cursor on. A conversation has one writer, which
 * persists changes in the order of their stamps: so the store is complete up to the conversation's newest stamp.
 */

export interface EventReaderParts {
	/**
	 * Reads of `changes`, `directory` and `history` wait until the store has everything that may have been
	 * delivered; reads of `source` do not wait.
	 */
	readonly changes: Changes;
	readonly directory: Pick<Directory, 'conversations'>;
	readonly history: Pick<History, 'messages' | 'threads'>;
	readonly source: Pick<StateSource, 'briefs' | 'memberships'>;
}

export interface ReadEvents {
	readonly events: readonly AppEvent[];
	/** Everything up to this stamp was read. */
	readonly upTo: number;
	/** More events follow. */
	readonly hasMore: boolean;
}

const MAX_BATCH = { changes: 200, bytes: 1_000_000 };
const MAX_MEMBER_CHANGES = 1_000;
/** Changes with the same stamp cannot be read in parts. */
const MAX_PER_STAMP = 1_000_000;
/** Halving a day of microseconds takes fewer steps. */
const MAX_HALVES = 40;

export class EventReader {
	constructor(private readonly parts: EventReaderParts) {}

	/** The conversations that changed since `readUpTo`, with one query for all of them. */
	async changedAmong(ids: readonly string[], readUpTo: (id: string) => number): Promise<string[]> {
		const briefs = await this.parts.source.briefs(ids);
		return briefs.filter(({ id, stamp }) => stamp > readUpTo(id)).map(({ id }) => id);
	}

	/** Null: the bot is not a member. */
	async read(subscriber: EventSubscriber, id: string, since: number): Promise<ReadEvents | null> {
		const { directory, source } = this.parts;
		const [conversation] = await directory.conversations([id]);
		const [brief] = await source.briefs([id]);
		const own = (await source.memberships(id, [subscriber.bot])).get(subscriber.bot);
		if (!conversation || !brief || !own?.member) return null;
		if (brief.stamp <= since) return { events: [], upTo: since, hasMore: false };
		// The bot's own join is the first event that it gets.
		const from = Math.max(since, own.joinedTs - 1);
		const membership = this.wantsMemberChanges(subscriber)
			? await this.memberChanges(id, from, brief.stamp)
			: { memberChanges: [], upTo: brief.stamp };
		const { inside, upTo } = await this.inside(subscriber.bot, id, from, membership.upTo);
		const memberChanges = membership.memberChanges.filter(({ at }) => at <= upTo);
		const threads = await this.threadsOf(id, inside);
		const found: StoredChanges = { ...inside, conversation, memberChanges, threads };
		// A message lists all of its deleted files: drop deletions outside this range.
		const events = appEventsOf(found, subscriber).filter(({ at }) => at > from && at <= upTo);
		return { events, upTo, hasMore: upTo < brief.stamp };
	}

	private wantsMemberChanges({ names }: EventSubscriber): boolean {
		return names.has('member_joined_channel') || names.has('member_left_channel');
	}

	/** Joins and leaves. If there are too many, the oldest ones; changes with the same stamp stay together. */
	private async memberChanges(
		id: string,
		since: number,
		newest: number,
	): Promise<{ readonly memberChanges: readonly MemberChange[]; readonly upTo: number }> {
		const { changes } = this.parts;
		const memberChanges = await changes.memberChanges(id, since, newest, MAX_MEMBER_CHANGES);
		const last = memberChanges.at(-1);
		if (!last || memberChanges.length < MAX_MEMBER_CHANGES) return { memberChanges, upTo: newest };
		const before = memberChanges.filter(({ at }) => at < last.at);
		const together = await changes.memberChanges(id, last.at - 1, last.at, MAX_PER_STAMP);
		return { memberChanges: [...before, ...together], upTo: last.at };
	}

	/** As many changes as fit, the oldest first. */
	private async inside(
		user: string,
		id: string,
		since: number,
		newest: number,
	): Promise<{ readonly inside: InsideChanges; readonly upTo: number }> {
		let upTo = newest;
		for (let halves = 0; ; halves += 1) {
			// In the end a single stamp remains, which is read whatever its size.
			const bounds =
				halves < MAX_HALVES && upTo > since + 1 ? MAX_BATCH : { changes: MAX_PER_STAMP, bytes: 1e9 };
			const inside = await this.parts.changes.inside({
				user,
				since,
				upTo,
				conversations: [id],
				most: bounds,
			});
			if (inside) return { inside, upTo };
			upTo = since + Math.ceil((upTo - since) / 2);
		}
	}

	private async threadsOf(id: string, inside: InsideChanges): Promise<Map<number, ThreadSummary>> {
		const { history } = this.parts;
		const roots = [...(rootsOf(inside).get(id) ?? [])];
		if (roots.length === 0) return new Map();
		const [messages, infos] = await Promise.all([history.messages(id, roots), history.threads(id, roots)]);
		return new Map(summariesOf(messages, infos).map((thread) => [thread.root.ts, thread]));
	}
}

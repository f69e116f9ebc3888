import type { Effect } from '../../../../sequencer/effects.ts';
import type { Scope, Wanted } from '../../../ports/views.ts';
import type { Fence } from '../fence.ts';
import { slotOf } from '../slots.ts';
import type { Applied, ConversationCopy } from './conversation-copy.ts';
import type { ConversationViews, Held } from './conversation-views.ts';
import { CopySnapshot, type When, wantedIn } from './copy-snapshot.ts';
import type { Depths } from './depths.ts';
import { lacksThreads, type TooShort, tooShort } from './missing-parts.ts';
import type { UserViews } from './user-views.ts';

/**
 * Users and conversations as this process has them, brought up to date before each use.
 *
 * They lie in different slots, so nothing reads both at once. But a row that has the messages of now and the mark of before would win
 * over the one that has the mark. So the two have to have been as they are at one moment: where neither changed since it was
 * asked, that is the moment of asking; where a conversation did, the user is looked at once more after it.
 */

/** Somebody who marks without a pause gets a row all the same. */
const MOST_TRIES = 5;

/** Copies that are brought further back at the same time, for one look. */
const REACHED_AT_ONCE = 4;

export class CopiedViews {
	constructor(
		private readonly users: UserViews,
		private readonly conversations: ConversationViews,
		private readonly depths: Depths,
		private readonly fence: Fence,
	) {
		// Another epoch of a node has nothing of the one before.
		fence.onAnother((isThere) => {
			users.drop(isThere);
			conversations.drop(isThere);
		});
	}

	/**
	 * Calls `use` with what is in scope, all of one moment; again where it turns out not to be. `use` does all of its work in that
	 * turn: later the copies may be others.
	 */
	async look<T>(
		id: string,
		scope: Scope,
		when: When,
		use: (looked: CopySnapshot) => T,
		atOnce: 'at once' | 'each as it is' = 'at once',
	): Promise<T> {
		const place = slotOf(id);
		await this.fence.sinceIn([place]);
		this.makeRoom();
		const held: Held = new Map();
		for (let tries = 1; ; ) {
			const before = this.users.peek(id) ?? (await this.users.look(id));
			const wanted = wantedIn(scope, before, when);
			const since = await this.fence.sinceIn([place, ...this.conversations.slotsOf(wanted)]);
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
			const result = use(new CopySnapshot(before, looked.copies, when));
			const isOfOneMoment =
				isLast ||
				atOnce !== 'at once' ||
				!looked.haveChanged() ||
				(await this.users.look(id)).isSameAs(before);
			if (isOfOneMoment) {
				await this.fence.assured(since);
				return result;
			}
			tries += 1;
		}
	}

	/** One conversation as it is, by itself; null where there is none. `known` is a copy that the caller has. */
	async conversation(wanted: Wanted, known?: ConversationCopy): Promise<ConversationCopy | null> {
		const since = await this.fence.since([wanted.id]);
		this.makeRoom();
		const held: Held = new Map(known ? [[known.id, known]] : []);
		for (;;) {
			const { copies } = await this.conversations.look([wanted], this.users.numbering, held);
			if (lacksThreads([wanted], copies)) continue;
			await this.fence.assured(since);
			return copies[0] ?? null;
		}
	}

	/** The owner of the conversation took in these effects. */
	advance(id: string, applied: Applied, effects: readonly Effect[]): void {
		this.conversations.advance(id, applied, effects);
	}

	/** For the owner of a conversation whose newest effect has this stamp: no other process changes it. */
	currentOf(id: string, stamp: number): ConversationCopy | undefined {
		return this.conversations.currentOf(id, stamp);
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

	private makeRoom(): void {
		if (!this.users.isFull) return;
		this.users.clear();
		this.conversations.clear();
	}
}

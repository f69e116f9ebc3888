import type { Effect } from '../../../../sequencer/effects.ts';
import type { ConversationScope, Scope } from '../../../ports/views.ts';
import type { Fence } from '../fence.ts';
import { slotOf } from '../slots.ts';
import type { Applied, ConversationCopy } from './conversation-copy.ts';
import type { ConversationViews, Copies, HeldCopies } from './conversation-views.ts';
import { CopySnapshot, conversationsInScope, type ReadTime } from './copy-snapshot.ts';
import type { OlderEntries } from './older-entries.ts';
import type { UserViews } from './user-views.ts';

/**
 * Views of users and conversations in this process, brought up to date before each read.
 *
 * They are in different slots, so they cannot be read atomically. A row computed from current messages and an outdated cursor
 * would have a higher position than an earlier row with the new cursor and replace it in the client. So both must have been current
 * at one moment. If neither has changed since it was read, that is the moment of the read. If a conversation has changed, the
 * process reads the user again after it.
 */

/** A user who marks without a pause still gets a row. */
const MAX_TRIES = 5;

/** Copies whose older entries are loaded concurrently, per read. */
const LOAD_CONCURRENCY = 4;

export class CopiedViews {
	constructor(
		private readonly users: UserViews,
		private readonly conversations: ConversationViews,
		private readonly olderEntries: OlderEntries,
		private readonly fence: Fence,
	) {
		// Copies from the previous epoch of a node are invalid.
		fence.onNewEpoch((isOnNode) => {
			users.drop(isOnNode);
			conversations.drop(isOnNode);
		});
	}

	/**
	 * Calls `use` with the scope at one moment, and again if it turns out not to be consistent. `use` must be synchronous, because
	 * the copies may change later.
	 */
	async read<T>(
		id: string,
		scope: Scope,
		time: ReadTime,
		use: (current: CopySnapshot) => T,
		consistency: 'snapshot' | 'any' = 'snapshot',
	): Promise<T> {
		const slot = slotOf(id);
		await this.fence.beginInSlots([slot]);
		this.makeRoom();
		const held: HeldCopies = new Map();
		for (let tries = 1; ; ) {
			const before = this.users.peek(id) ?? (await this.users.read(id));
			const scopes = conversationsInScope(scope, before, time);
			const copies = this.conversations.copiesOf(scopes, before.numbering, held);
			const fencePoint = await this.fence.beginInSlots([slot, ...copies.map((copy) => copy.slot)]);
			const [user, current] = await Promise.all([
				this.users.read(id),
				this.conversations.update(scopes, copies),
			]);
			const isLast = tries === MAX_TRIES;
			if (!user.isSameAs(before) && !isLast) {
				tries += 1;
				continue;
			}
			const short = tooShort(scopes, current.copies);
			if (short.length > 0) {
				await this.loadAllOlder(short, held);
				continue;
			}
			// A concurrent read may have replaced the copy with one without threads.
			if (lacksThreads(scopes, current.copies)) continue;
			const result = use(new CopySnapshot(before, current.copies, time));
			const isConsistent =
				isLast ||
				consistency === 'any' ||
				!current.haveChanged() ||
				(await this.users.read(id)).isSameAs(before);
			if (isConsistent) {
				await this.fence.verify(fencePoint);
				return result;
			}
			tries += 1;
		}
	}

	/** One conversation by itself; null if it does not exist. `known`: a copy that the caller holds. */
	async conversation(scope: ConversationScope, known?: ConversationCopy): Promise<ConversationCopy | null> {
		const fencePoint = await this.fence.begin([scope.id]);
		this.makeRoom();
		const held: HeldCopies = new Map(known ? [[known.id, known]] : []);
		for (;;) {
			const asked = this.conversations.copiesOf([scope], this.users.numbering, held);
			const { copies } = await this.conversations.update([scope], asked);
			if (lacksThreads([scope], copies)) continue;
			await this.fence.verify(fencePoint);
			return copies[0] ?? null;
		}
	}

	/** The owner of the conversation has applied these effects. */
	advance(id: string, applied: Applied, effects: readonly Effect[]): void {
		this.conversations.advance(id, applied, effects);
	}

	/** For the owner of a conversation whose newest effect has this stamp: no other process changes it. */
	currentOf(id: string, stamp: number): ConversationCopy | undefined {
		return this.conversations.currentOf(id, stamp);
	}

	/** Loads at least one chunk of older entries. */
	async loadOlder(copy: ConversationCopy, after: number): Promise<void> {
		await this.olderEntries.load(copy, after);
		this.conversations.grown(copy);
	}

	/** Holds the copies until they are used, even if the cache is too small for them. */
	private async loadAllOlder(short: readonly TooShort[], held: HeldCopies): Promise<void> {
		const left = [...short];
		const loadNext = async () => {
			for (let next = left.pop(); next; next = left.pop()) {
				held.set(next.copy.id, next.copy);
				await this.loadOlder(next.copy, next.after);
			}
		};
		await Promise.all(Array.from({ length: LOAD_CONCURRENCY }, loadNext));
	}

	private makeRoom(): void {
		if (!this.users.isFull) return;
		this.users.clear();
		this.conversations.clear();
	}
}

interface TooShort {
	readonly copy: ConversationCopy;
	readonly after: number;
}

/** Copies that are not loaded far enough back. */
function tooShort(scopes: readonly ConversationScope[], copies: Copies): TooShort[] {
	const short: TooShort[] = [];
	for (const [index, { after, archivedToo }] of scopes.entries()) {
		const copy = copies[index];
		if (!copy || after === null || after >= copy.timeline.floor) continue;
		if (copy.archived && !archivedToo) continue;
		short.push({ copy, after });
	}
	return short;
}

const lacksThreads = (scopes: readonly ConversationScope[], copies: Copies): boolean =>
	scopes.some(({ threads }, index) => threads.some((root) => copies[index]?.threads.has(root) === false));

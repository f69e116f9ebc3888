import type { ConversationScope, Scope } from '../../../ports/views.ts';
import type { LoadTarget } from '../../../read-state/timeline-loader.ts';
import type { Fence } from '../fence.ts';
import type { CommandChanges } from '../read-state/changes.ts';
import { slotOf } from '../slots.ts';
import type { Applied, ConversationCopy } from './conversation-copy.ts';
import { type ConversationViews, type Copies, type HeldCopies, NO_THREADS } from './conversation-views.ts';
import { CopySnapshot, conversationsInScope, type ReadTime } from './copy-snapshot.ts';
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

export class CopiedViews {
	constructor(
		private readonly users: UserViews,
		private readonly conversations: ConversationViews,
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
			const [user, current] = await Promise.all([this.users.read(id), this.conversations.update(copies)]);
			const isLast = tries === MAX_TRIES;
			if (!user.isSameAs(before) && !isLast) {
				tries += 1;
				continue;
			}
			if (await this.loadMissing(scopes, current.copies, held)) continue;
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
			const before = this.conversations.copiesOf([scope], this.users.numbering, held);
			const { copies } = await this.conversations.update(before);
			if (await this.loadMissing([scope], copies, held)) continue;
			await this.fence.verify(fencePoint);
			return copies[0] ?? null;
		}
	}

	/** The owner of the conversation has applied these commands. */
	advance(id: string, applied: Applied, commands: readonly CommandChanges[]): void {
		this.conversations.advance(id, applied, commands);
	}

	/** For the owner of a conversation whose newest command has this stamp: no other process changes it. */
	currentOf(id: string, stamp: number): ConversationCopy | undefined {
		return this.conversations.currentOf(id, stamp);
	}

	/**
	 * Loads a copy in the background, if there is room for it, so that the owner's next batch does not depend on the store. Errors are
	 * swallowed: a batch that needs the copy loads it.
	 */
	warm(id: string): void {
		if (this.conversations.hasRoom)
			this.conversation({ id, after: null, threads: NO_THREADS }).catch(() => undefined);
	}

	/** Loads a chunk of older entries. Afterwards the copy has to be brought up to date. */
	loadChunk(copy: ConversationCopy, after: number): Promise<void> {
		return this.conversations.timelines.loadSmallChunk(copy, after);
	}

	/**
	 * Loads entries and threads in scope that the copies lack, and holds these copies until they are used, even if the cache is too small
	 * for them. Resolves to false if nothing was missing, and no copy was loaded further by another caller since it was brought up to date.
	 */
	private async loadMissing(
		scopes: readonly ConversationScope[],
		copies: Copies,
		held: HeldCopies,
	): Promise<boolean> {
		const short: LoadTarget<ConversationCopy>[] = [];
		const threads: Promise<void>[] = [];
		let isAhead = false;
		for (const [index, { after, archivedToo, threads: roots }] of scopes.entries()) {
			const copy = copies[index];
			if (!copy) continue;
			isAhead ||= copy.isAhead || !copy.isLoaded || copy.isHeadMissing;
			const isShort = after !== null && after < copy.timeline.floor && (!copy.archived || archivedToo);
			const missing = roots.length === 0 ? roots : roots.filter((root) => !copy.threads.has(root));
			if (isShort) short.push({ conversation: copy, ts: after });
			if (missing.length > 0) threads.push(this.conversations.loadThreads(copy, missing));
			if (isShort || missing.length > 0) held.set(copy.id, copy);
		}
		if (short.length > 0) threads.push(this.conversations.timelines.loadAll(short));
		await Promise.all(threads);
		return isAhead || threads.length > 0;
	}

	private makeRoom(): void {
		if (!this.users.isFull) return;
		this.users.clear();
		this.conversations.clear();
	}
}

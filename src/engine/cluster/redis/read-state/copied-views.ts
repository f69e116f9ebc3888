import type { ConversationScope, Scope } from '../../../ports/views.ts';
import type { CommandChanges } from '../../../read-state/changes.ts';
import type { LoadTarget } from '../../../read-state/timeline-loader.ts';
import type { Guard } from '../epoch-guard.ts';
import { slotOf } from '../slots.ts';
import type { ConversationCopies, Copies, HeldCopies } from './conversation-copies.ts';
import type { Applied, ConversationCopy } from './conversation-copy.ts';
import { CopySnapshot, conversationsInScope, type ReadTime } from './copy-snapshot.ts';
import type { UserCopies } from './user-copies.ts';

/**
 * Views of users and conversations in this process, brought up to date before each read.
 *
 * They are in different slots, so they cannot be read atomically. A row with current messages and an outdated cursor would have a
 * higher position than an earlier row with the new cursor, so the client would keep the wrong one. So both must have been current
 * at one moment. If nothing changed during the read, all of it was current when the read began. If a conversation changed, the user is
 * read again; if the user is unchanged, both were current when the conversation was read.
 */

/** After so many tries the answer may be inconsistent: a user who marks without a pause still gets one. */
const MAX_TRIES = 10;

export class CopiedViews {
	constructor(
		private readonly guard: Guard,
		private readonly users: UserCopies,
		readonly conversations: ConversationCopies,
	) {
		// Copies from the previous epoch of a node are invalid.
		guard.onNewEpoch((isOnNode) => {
			users.drop(isOnNode);
			conversations.drop(isOnNode);
		});
	}

	/**
	 * Calls `use` with the scope at one moment, and again if it was not consistent; with `any`, conversations may be newer than the user.
	 * `use` must be synchronous, because the copies change later.
	 */
	read<T>(
		id: string,
		scope: Scope,
		time: ReadTime,
		use: (current: CopySnapshot) => T,
		consistency: 'snapshot' | 'any' = 'snapshot',
	): Promise<T> {
		const slot = slotOf(id);
		return this.guard.retrying(async () => {
			const { tokenOf } = await this.guard.beginInSlots([slot]);
			this.makeRoom();
			const held: HeldCopies = new Map();
			for (let tries = 1; ; ) {
				const before = this.users.peek(id) ?? (await this.users.read(id, tokenOf(slot)));
				const { version } = before;
				const scopes = conversationsInScope(scope, before, time);
				const copies = this.conversations.copiesOf(scopes, before.context.userNumbers, held);
				const point = await this.guard.beginInSlots([slot, ...copies.map((copy) => copy.slot)]);
				const [user, current] = await Promise.all([
					this.users.read(id, point.tokenOf(slot)),
					this.conversations.update(copies, point),
				]);
				const isLast = tries === MAX_TRIES;
				const isSame = (): boolean => user === before && user.version === version;
				if (!isSame() && !isLast) {
					tries += 1;
					continue;
				}
				const loads = this.loadMissing(scopes, current.copies, held);
				if (loads.length > 0) {
					await Promise.all(loads);
					continue;
				}
				const result = use(new CopySnapshot(user, current.copies, time));
				const isConsistent =
					isLast ||
					(isSame() &&
						(consistency === 'any' ||
							!current.haveChanged() ||
							((await this.users.read(id, point.tokenOf(slot))) === user && isSame())));
				if (isConsistent) {
					await this.guard.verify(point);
					return result;
				}
				tries += 1;
			}
		});
	}

	/** One conversation by itself; null if it does not exist. `known`: a copy that the caller holds. */
	conversation(scope: ConversationScope, known?: ConversationCopy): Promise<ConversationCopy | null> {
		return this.guard.retrying(async () => {
			const point = await this.guard.begin([scope.id]);
			this.makeRoom();
			const held: HeldCopies = new Map(known ? [[known.id, known]] : []);
			for (;;) {
				const before = this.conversations.copiesOf([scope], this.users.context.userNumbers, held);
				const { copies } = await this.conversations.update(before, point);
				const loads = this.loadMissing([scope], copies, held);
				await Promise.all(loads);
				if (loads.length > 0) continue;
				await this.guard.verify(point);
				return copies[0] ?? null;
			}
		});
	}

	/** The owner of the conversation has applied these commands. */
	advance(id: string, applied: Applied, commands: readonly CommandChanges[]): void {
		const { cache } = this.conversations;
		const copy = cache.get(id);
		if (copy?.advance(applied, commands)) cache.put(copy);
	}

	/** A copy with this stamp. For the owner of a conversation whose newest command has it: no other process changes the conversation. */
	currentOf(id: string, stamp: number): ConversationCopy | undefined {
		const copy = this.conversations.cache.get(id);
		return copy?.isUsable && copy.stamp === stamp ? copy : undefined;
	}

	/**
	 * Loads a copy in the background, if there is room for it, so that the owner's next batch does not depend on the store. Errors are
	 * swallowed: a batch that needs the copy loads it.
	 */
	warm(id: string): void {
		if (this.conversations.cache.hasRoom)
			this.conversation({ id, after: null, threads: [] }).catch(() => undefined);
	}

	/**
	 * Begins to load entries and threads in scope that the copies lack, and holds these copies until they are used, even if the cache is too
	 * small for them. Returns the loads: none if nothing is missing and every copy is usable. Otherwise the caller reads again.
	 */
	private loadMissing(
		scopes: readonly ConversationScope[],
		copies: Copies,
		held: HeldCopies,
	): readonly Promise<void>[] {
		const { loader } = this.conversations;
		const short: LoadTarget<ConversationCopy>[] = [];
		const loads: Promise<void>[] = [];
		for (const [index, { after, archivedToo, threads }] of scopes.entries()) {
			const copy = copies[index];
			if (!copy) continue;
			if (!copy.isUsable) loads.push(Promise.resolve());
			const isShort = after !== null && after < copy.timeline.floor && (!copy.archived || archivedToo);
			const missing = threads.length === 0 ? threads : threads.filter((root) => !copy.threads.has(root));
			if (isShort) short.push({ conversation: copy, ts: after });
			for (const root of missing) loads.push(loader.loadThread(copy, root));
			if (isShort || missing.length > 0) held.set(copy.id, copy);
		}
		if (short.length > 0) loads.push(loader.loadAll(short));
		return loads;
	}

	private makeRoom(): void {
		if (this.users.makeRoom()) this.conversations.cache.clear();
	}
}

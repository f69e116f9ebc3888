import type { ReadFact } from '../../../ports/facts.ts';
import type { StateSource } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import type { Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { UserCopy } from '../views/user-copy.ts';
import { UserViews } from '../views/user-views.ts';
import type { OwnerView } from './owner-view.ts';
import { type StoredMembership, unpackMembership } from './packing.ts';
import { storedFields } from './stored-fields.ts';
import { namesOf, type Step, stepped, type UserChange } from './user-changes.ts';
import { type Fields, fieldsOf, membershipField, STAMP } from './user-state.ts';

/**
 * The read states of users in Redis: loaded on first use, changed by compare-and-set. Whoever changes one
 * reads it, computes with pure functions and sets it if it is unchanged, else begins again.
 */
export class Users {
	/** Copies in the memory of this process. */
	readonly copies: UserViews;

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
		starts: readonly number[],
		mostBytes: number,
	) {
		this.copies = new UserViews(commands, keys, starts, (user) => this.load(user), mostBytes);
	}

	/** These fields (null: all) and the stamp. Those that there are. */
	async read(user: string, names: readonly string[] | null): Promise<Fields> {
		const key = this.keys.user(user);
		for (;;) {
			const fields = names ? await this.some(key, [STAMP, ...names]) : await this.commands.hgetall(key);
			if (STAMP in fields) return fields;
			await this.load(user);
		}
	}

	private async some(key: string, names: readonly string[]): Promise<Fields> {
		const values = await this.commands.hmget(key, ...names);
		const fields: Record<string, string> = {};
		for (const [index, name] of names.entries()) {
			const value = values[index];
			if (value != null) fields[name] = value;
		}
		return fields;
	}

	/** What these have in a conversation, without loading anybody. */
	async loadedIn(conversation: string, users: readonly string[]): Promise<Map<string, StoredMembership>> {
		const field = membershipField(conversation);
		const packed = await Promise.all(users.map((user) => this.commands.hget(this.keys.user(user), field)));
		const found = new Map<string, StoredMembership>();
		for (const [index, user] of users.entries()) {
			const value = packed[index];
			if (value) found.set(user, unpackMembership(value));
		}
		return found;
	}

	/** Answers false where one of the fields is not as read any more. '' stands for no value, both ways. */
	async set(user: string, at: number, read: Fields, changed: Fields): Promise<boolean> {
		return (await this.setIfUnchanged(user, at, read, changed)).length > 0;
	}

	/** The same for who decided on a copy, which is brought up to date. */
	async setOn(copy: UserCopy, at: number, changed: Fields): Promise<boolean> {
		const [before, after] = await this.setIfUnchanged(copy.id, at, copy.fields, changed);
		if (before === undefined || after === undefined) return false;
		if (before === copy.fields[STAMP]) this.copies.changed(copy, changed, after);
		return true;
	}

	private async setIfUnchanged(user: string, at: number, read: Fields, changed: Fields): Promise<string[]> {
		const { commands, keys, ttlSeconds } = this;
		const triples = Object.entries(changed).flatMap(([field, value]) => [field, read[field] ?? '', value]);
		const both = [keys.user(user), keys.userChanges(user)];
		return (await commands.setIfUnchanged(...both, ttlSeconds, at, ...triples)) as string[];
	}

	/**
	 * What effects do to a user, who is changed when loaded, where that can wait. Answers with the cursors that moved.
	 *
	 * `early`: read before the conversation had the effects. A mark may have been set after that and counted before the effects, so
	 * every field counts as unchanged only if it is set, which compares it; a field that stays is read again.
	 */
	async step(
		user: string,
		steps: readonly Step[],
		view: OwnerView,
		early?: Promise<Fields>,
	): Promise<readonly ReadFact[]> {
		const canWait = steps.every((step) => step.type !== 'post');
		const names = namesOf(steps);
		for (let known = early; ; known = undefined) {
			if (canWait && (await this.pend(user, steps))) return [];
			const fields = await (known ?? this.read(user, names));
			const { changed, at, facts } = await view.decide((caughtUp) => stepped(user, fields, steps, caughtUp));
			if (known && !names?.every((name) => name in changed)) continue;
			if (at === 0 || (await this.set(user, at, fields, changed))) return facts;
		}
	}

	/** Answers false where the user is loaded. */
	private async pend(user: string, changes: readonly Step[]): Promise<boolean> {
		const { commands, keys, ttlSeconds } = this;
		const both = [keys.user(user), keys.pending(user)];
		const texts = changes.map((change) => JSON.stringify(change));
		return (await commands.pendUnlessLoaded(...both, ttlSeconds, ...texts)) === 1;
	}

	/**
	 * Takes from the store again what the user has in this conversation: how it stands in Redis, then what the store has, and that is set
	 * where Redis still stands so. `longAgo`: no change from before this stamp is still on its way to the store.
	 */
	async reload(user: string, conversation: string, longAgo: number): Promise<'repaired' | RepairProblem> {
		const { commands, keys, source, fence } = this;
		const fields = await this.read(user, null);
		// After the fields: what effects did to them is in the store when it has this stamp.
		const stamp = await commands.hget(keys.meta(conversation), 'stamp');
		const since = await fence.since([user, conversation]);
		const [brief] = await source.briefs([conversation]);
		if ((brief?.stamp ?? 0) < Number(stamp)) return 'store_behind';
		const rows = await source.user(user);
		await fence.still(since);
		const { behind, doubtfulUpTo, changed } = storedFields(fields, rows, conversation);
		if (behind || (doubtfulUpTo !== null && doubtfulUpTo > longAgo)) return 'store_behind';
		if (Object.keys(changed).length === 0) return 'repaired';
		return (await this.set(user, rows.stamp, fields, changed)) ? 'repaired' : 'changing';
	}

	/** From the store, with the changes on top that it may not have yet. */
	private load(user: string): Promise<void> {
		const { commands, keys, source, ttlSeconds } = this;
		return this.fence.load(
			[user],
			async () => {
				const pending = await commands.lrange(keys.pending(user), 0, -1);
				const changes = pending.map((text) => JSON.parse(text) as UserChange);
				const stored = fieldsOf(await source.user(user));
				const { changed, at } = stepped(user, stored, changes, () => false);
				const stamp = String(Math.max(at, Number(stored[STAMP])));
				return { fields: { ...stored, ...changed, [STAMP]: stamp }, merged: pending.length };
			},
			({ fields, merged }, tokenOf) =>
				commands.loadUser(
					keys.user(user),
					keys.pending(user),
					...tokenOf(user),
					ttlSeconds,
					merged,
					...Object.entries(fields)
						.filter(([, value]) => value !== '')
						.flat(),
				),
		);
	}
}

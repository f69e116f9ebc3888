import type { ReadFact } from '../../../ports/facts.ts';
import type { StateSource } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import type { Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { UserCopy } from '../views/user-copy.ts';
import { UserViews } from '../views/user-views.ts';
import type { OwnerView } from './owner-view.ts';
import { type RedisMembership, unpackMembership } from './packing.ts';
import { storedFields } from './stored-fields.ts';
import { computeSteps, fieldsNeededBy, type MembershipStep, type Step } from './user-changes.ts';
import { type Fields, fieldsOf, membershipField, STAMP } from './user-state.ts';

/**
 * The read states of users in Redis: loaded on first use, changed by compare-and-set. A process that changes one
 * reads it, computes with pure functions, and sets it if it is unchanged; otherwise it starts over.
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

	/** Reads these fields (null: all) and the stamp; absent fields are omitted. */
	async read(user: string, names: readonly string[] | null): Promise<Fields> {
		const key = this.keys.user(user);
		for (;;) {
			const fields = names ? await this.readSome(key, [STAMP, ...names]) : await this.commands.hgetall(key);
			if (STAMP in fields) return fields;
			await this.load(user);
		}
	}

	private async readSome(key: string, names: readonly string[]): Promise<Fields> {
		const values = await this.commands.hmget(key, ...names);
		const fields: Record<string, string> = {};
		for (const [index, name] of names.entries()) {
			const value = values[index];
			if (value != null) fields[name] = value;
		}
		return fields;
	}

	/** Memberships of those users who are loaded; loads nobody. */
	async loadedIn(conversation: string, users: readonly string[]): Promise<Map<string, RedisMembership>> {
		const field = membershipField(conversation);
		const packed = await Promise.all(users.map((user) => this.commands.hget(this.keys.user(user), field)));
		const found = new Map<string, RedisMembership>();
		for (const [index, user] of users.entries()) {
			const value = packed[index];
			if (value) found.set(user, unpackMembership(value));
		}
		return found;
	}

	/** Resolves to false if one of the fields has changed since it was read. '' stands for an absent value, in both arguments. */
	async set(user: string, at: number, read: Fields, changed: Fields): Promise<boolean> {
		return (await this.setIfUnchanged(user, at, read, changed)).length > 0;
	}

	/** As `set`, for a change decided on a copy; updates the copy. */
	async setOn(copy: UserCopy, at: number, changed: Fields): Promise<boolean> {
		const [before, after] = await this.setIfUnchanged(copy.id, at, copy.fields, changed);
		if (before === undefined || after === undefined) return false;
		if (before === copy.fields[STAMP]) this.copies.changed(copy, changed, after);
		return true;
	}

	private async setIfUnchanged(user: string, at: number, read: Fields, changed: Fields): Promise<string[]> {
		const { commands, keys, ttlSeconds } = this;
		const triples = Object.entries(changed).flatMap(([field, value]) => [field, read[field] ?? '', value]);
		const stateKeys = [keys.user(user), keys.userChanges(user)];
		return (await commands.setIfUnchanged(...stateKeys, ttlSeconds, at, ...triples)) as string[];
	}

	/**
	 * Applies steps to a user who is loaded. For one who is not, stores them for the next load, if all of them can be applied then.
	 * Resolves to the cursors that moved.
	 *
	 * `early`: the fields, read before the effects were applied to the conversation. A mark may have changed them between that read and
	 * the effects. `set` notices this only in the fields that it sets, because it compares those with what was read. So `early` is used
	 * only if all of its fields are set; otherwise they are read again.
	 */
	async applySteps(
		user: string,
		steps: readonly Step[],
		view: OwnerView,
		early?: Promise<Fields>,
	): Promise<readonly ReadFact[]> {
		const canWait = steps.every((step) => step.type !== 'post');
		const names = fieldsNeededBy(steps);
		for (let known = early; ; known = undefined) {
			if (canWait && (await this.pend(user, steps))) return [];
			const fields = await (known ?? this.read(user, names));
			const { changed, at, facts } = await view.decide((caughtUp) =>
				computeSteps(user, fields, steps, caughtUp),
			);
			if (known && !names?.every((name) => name in changed)) continue;
			if (at === 0 || (await this.set(user, at, fields, changed))) return facts;
		}
	}

	/** Resolves to false if the user is loaded. */
	private async pend(user: string, changes: readonly Step[]): Promise<boolean> {
		const { commands, keys, ttlSeconds } = this;
		const stateKeys = [keys.user(user), keys.pending(user)];
		const texts = changes.map((change) => JSON.stringify(change));
		return (await commands.pendUnlessLoaded(...stateKeys, ttlSeconds, ...texts)) === 1;
	}

	/**
	 * Reloads the user's state in this conversation: reads Redis, then the store, and sets the stored state if Redis is
	 * unchanged. `longAgo`: the store has every change from before this stamp.
	 */
	async reload(user: string, conversation: string, longAgo: number): Promise<'repaired' | RepairProblem> {
		const { commands, keys, source, fence } = this;
		const fields = await this.read(user, null);
		// After the fields: if the store has this stamp, it has what effects did to them.
		const stamp = await commands.hget(keys.meta(conversation), 'stamp');
		const fencePoint = await fence.begin([user, conversation]);
		const [brief] = await source.briefs([conversation]);
		if ((brief?.stamp ?? 0) < Number(stamp)) return 'store_behind';
		const rows = await source.user(user);
		await fence.verifyEpochs(fencePoint);
		const { behind, uncertainUpTo, changed } = storedFields(fields, rows, conversation);
		if (behind || (uncertainUpTo !== null && uncertainUpTo > longAgo)) return 'store_behind';
		if (Object.keys(changed).length === 0) return 'repaired';
		return (await this.set(user, rows.stamp, fields, changed)) ? 'repaired' : 'changing';
	}

	/** Loads from the store and merges changes that it may not have yet. */
	private load(user: string): Promise<void> {
		const { commands, keys, source, ttlSeconds } = this;
		return this.fence.load(
			[user],
			async () => {
				const pending = await commands.lrange(keys.pending(user), 0, -1);
				const changes = pending.map((text) => JSON.parse(text) as MembershipStep);
				const stored = fieldsOf(await source.user(user));
				const { changed, at } = computeSteps(user, stored, changes, () => false);
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

import type { ReadFact } from '../../../ports/facts.ts';
import type { StateSource } from '../../../ports/store.ts';
import type { Commands } from '../connection.ts';
import type { Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { UserCopy } from '../views/user-copy.ts';
import { UserViews } from '../views/user-views.ts';
import { type Membership, unpackMembership } from './packing.ts';
import { cursorFact } from './standing-facts.ts';
import {
	changedFields,
	type Fields,
	followField,
	membershipField,
	membershipIn,
	mergedFields,
	STAMP,
	type UserChange,
} from './user-state.ts';

/**
 * The read states of users in Redis: loaded on first use, changed by compare-and-set. Whoever changes one
 * reads it, computes with pure functions and sets it if it is unchanged, else begins again.
 */

/** Members of a conversation that are changed at the same time: a pipeline of bounded size. */
const AT_ONCE = 500;

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

	/** The whole state. */
	async all(user: string): Promise<Fields> {
		for (;;) {
			const fields = await this.commands.hgetall(this.keys.user(user));
			if (STAMP in fields) return fields;
			await this.load(user);
		}
	}

	/** Some fields, and the stamp. Those that there are. */
	async some(user: string, names: readonly string[]): Promise<Fields> {
		const wanted = [STAMP, ...names];
		for (;;) {
			const values = await this.commands.hmget(this.keys.user(user), ...wanted);
			if (values[0] !== null)
				return Object.fromEntries(
					wanted.flatMap((name, index) => {
						const value = values[index];
						return value == null ? [] : [[name, value]];
					}),
				);
			await this.load(user);
		}
	}

	/** What these have in a conversation, without loading anybody. */
	async loadedIn(conversation: string, users: readonly string[]): Promise<Map<string, Membership>> {
		const field = membershipField(conversation);
		const packed = await Promise.all(users.map((user) => this.commands.hget(this.keys.user(user), field)));
		const found = new Map<string, Membership>();
		for (const [index, user] of users.entries()) {
			const value = packed[index];
			if (value) found.set(user, unpackMembership(value));
		}
		return found;
	}

	/** Answers false where one of the fields is not as read any more. '' stands for no value, both ways. */
	async set(user: string, at: number, read: Fields, changed: Fields): Promise<boolean> {
		const triples = Object.entries(changed).flatMap(([field, value]) => [field, read[field] ?? '', value]);
		return (await this.setIfUnchanged(user, at, triples)).length > 0;
	}

	/** The same for who decided on a copy, which is brought up to date. */
	async setOn(copy: UserCopy, at: number, changed: Fields): Promise<boolean> {
		const triples = Object.entries(changed).flatMap(([field, value]) => [
			field,
			copy.fields[field] ?? '',
			value,
		]);
		const [before, after] = await this.setIfUnchanged(copy.id, at, triples);
		if (before === undefined || after === undefined) return false;
		if (before === copy.fields[STAMP]) this.copies.changed(copy, changed, after);
		return true;
	}

	private async setIfUnchanged(user: string, at: number, triples: readonly string[]): Promise<string[]> {
		const { commands, keys, ttlSeconds } = this;
		const both = [keys.user(user), keys.userChanges(user)];
		return (await commands.setIfUnchanged(...both, ttlSeconds, at, ...triples)) as string[];
	}

	/**
	 * Changes these users alike; those that are not loaded when they are. Answers where those who came back to a
	 * conversation stand now: their marks of before may still be on their way to the store, which then could not tell
	 * what their revision goes on from.
	 */
	async change(
		users: readonly string[],
		change: UserChange,
		inTurn: <T>(user: string, work: () => Promise<T>) => Promise<T>,
	): Promise<ReadFact[]> {
		const facts: ReadFact[] = [];
		for (let from = 0; from < users.length; from += AT_ONCE) {
			const some = users.slice(from, from + AT_ONCE);
			for (const fact of await Promise.all(
				some.map((user) => inTurn(user, () => this.changeOne(user, change))),
			))
				if (fact) facts.push(fact);
		}
		return facts;
	}

	private async changeOne(user: string, change: UserChange): Promise<ReadFact | null> {
		const { commands, keys, ttlSeconds } = this;
		for (;;) {
			const kept = await commands.pendUnlessLoaded(
				keys.user(user),
				keys.pending(user),
				ttlSeconds,
				JSON.stringify(change),
			);
			if (kept === 1) return null;
			// Leaving ends what is followed there, whatever that is.
			const fields =
				change.type === 'leave' ? await this.all(user) : await this.some(user, [fieldOf(change)]);
			const changed = changedFields(fields, change);
			if (await this.set(user, change.at, fields, changed)) return cameBack(user, change, fields, changed);
		}
	}

	private load(user: string): Promise<void> {
		const { commands, keys, source, ttlSeconds } = this;
		return this.fence.load(
			[user],
			async () => {
				const pending = await commands.lrange(keys.pending(user), 0, -1);
				const changes = pending.map((text) => JSON.parse(text) as UserChange);
				return { fields: mergedFields(await source.user(user), changes), merged: pending.length };
			},
			({ fields, merged }, tokenOf) =>
				commands.loadUser(
					keys.user(user),
					keys.pending(user),
					...tokenOf(user),
					ttlSeconds,
					merged,
					...Object.entries(fields).flat(),
				),
		);
	}
}

function cameBack(user: string, change: UserChange, before: Fields, changed: Fields): ReadFact | null {
	const { type, conversation } = change;
	const now = membershipIn(changed, conversation);
	if (type !== 'join' || !now || !membershipIn(before, conversation)) return null;
	return cursorFact(user, conversation, now);
}

const fieldOf = (change: Exclude<UserChange, { type: 'leave' }>): string =>
	change.type === 'join'
		? membershipField(change.conversation)
		: followField(change.conversation, change.threadTs);

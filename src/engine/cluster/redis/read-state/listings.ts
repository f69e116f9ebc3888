import type { Commands } from '../connection.ts';
import type { Keys } from '../keys.ts';

/**
 * Saved sets of conversations: which ones an unread-first inbox lists as unread. They expire; each use extends their
 * lifetime. Redis removes an empty set, so '' is always a member.
 */

const LIFETIME_SECONDS = 15 * 60;
/** Bun limits the arguments of a call, Redis serves nobody else while it adds them, and each command has its own timeout. */
const IDS_PER_COMMAND = 5_000;

export class Listings {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
	) {}

	async save(user: string, number: number, ids: Iterable<string>): Promise<void> {
		const { commands } = this;
		const key = this.keys.listing(user, number);
		const members = ['', ...ids];
		await commands.del(key);
		for (let start = 0; start < members.length; start += IDS_PER_COMMAND) {
			const some = members.slice(start, start + IDS_PER_COMMAND);
			await Promise.all([commands.sadd(key, ...some), commands.expire(key, LIFETIME_SECONDS)]);
		}
	}

	async saved(user: string, number: number): Promise<ReadonlySet<string> | null> {
		const { commands } = this;
		const key = this.keys.listing(user, number);
		const [members] = await Promise.all([commands.smembers(key), commands.expire(key, LIFETIME_SECONDS)]);
		return members.length === 0 ? null : new Set(members);
	}
}

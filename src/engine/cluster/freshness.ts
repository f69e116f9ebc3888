import { Rejection } from '../../model/errors.ts';
import type { MembershipView } from '../../model/views.ts';
import type { StateSource } from '../ports/store.ts';
import type { Commands } from './redis/connection.ts';
import type { Guard } from './redis/epoch-guard.ts';
import type { Keys } from './redis/keys.ts';
import {
	type Fields,
	membershipField,
	pairs,
	STORED,
	subjectOf,
	unpackMembership,
} from './redis/read-state/packing.ts';
import { slotOf } from './redis/slots.ts';

/**
 * The store lags behind the log by a moment. A read that must include delivered events waits here until the store has caught up with
 * the read state in Redis, which has the newest stamp of each conversation. No read waits for a user's own marks, because they are read
 * from Redis (own-changes.ts, message-readers.ts).
 *
 * If a change is not in Redis, the store has it, but only within an epoch. So every read here also checks the epoch of its node.
 */

const PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
const TIMEOUT_MS = 10_000;
/** Stamps of conversations in the store: with them in memory, most reads query only Redis. */
const MAX_CACHED = 50_000;

export interface FreshnessParts {
	readonly commands: Commands;
	readonly keys: Keys;
	readonly guard: Guard;
	readonly source: Pick<StateSource, 'briefs'>;
	/** Conversations of a user that have changed after a stamp. */
	readonly changedSince: (user: string, since: number) => Promise<readonly string[]>;
	readonly nowMs: () => number;
	/** Maximum number of cached stamps. */
	readonly mostCached?: number;
}

export class Freshness {
	private readonly stored = new Map<string, number>();

	constructor(private readonly parts: FreshnessParts) {}

	/** Resolves when the store has all changes of these conversations so far. */
	async conversations(ids: readonly string[]): Promise<void> {
		const wanted = await this.newestStamps(ids);
		// The cache is consulted only once, because its stamps may be evicted in the meantime.
		let behind = [...wanted].filter(([id, stamp]) => (this.stored.get(id) ?? 0) < stamp);
		await this.until(async () => {
			if (behind.length === 0) return true;
			const briefs = await this.parts.source.briefs(behind.map(([id]) => id));
			const stored = new Map(briefs.map(({ id, stamp }) => [id, stamp]));
			for (const [id, stamp] of stored) this.remember(id, stamp);
			behind = behind.filter(([id, stamp]) => (stored.get(id) ?? 0) < stamp);
			return behind.length === 0;
		});
	}

	/**
	 * Resolves when the store has everything after this stamp that the user may see: joining and leaving conversations, following and
	 * unfollowing threads, and messages. Resolves to the user's fields in Redis, which also have the user's own changes; null if Redis
	 * has none.
	 */
	async user(user: string, since: number): Promise<Fields | null> {
		const fields = await this.fieldsOf(user);
		const names = Object.keys(fields);
		// Also conversations that the user has left.
		const concerned = new Set(names.flatMap((name) => subjectOf(name)?.conversation ?? []));
		const own = await this.newestStamps([...concerned]);
		const changed = [...own].filter(([, stamp]) => stamp > since).map(([id]) => id);
		await this.conversations([...new Set([...changed, ...(await this.parts.changedSince(user, since))])]);
		return names.length === 0 ? null : fields;
	}

	/** Memberships in Redis: those that have changed lately. The store is current for the others. */
	async memberships(
		conversation: string,
		users: readonly string[],
	): Promise<ReadonlyMap<string, MembershipView>> {
		const { commands, keys, guard } = this.parts;
		const field = membershipField(conversation);
		const point = await guard.begin(users);
		const packed = await Promise.all(users.map((user) => commands.hget(keys.fields(user), field)));
		// Plain commands, not scripts: a thousand members may be on any node.
		await guard.verifyEpochs(point);
		const found = new Map<string, MembershipView>();
		for (const [index, user] of users.entries()) {
			const value = packed[index];
			if (value) found.set(user, unpackMembership(value));
		}
		return found;
	}

	/** Stamps of conversations that have changed lately. The store has all changes of the others. */
	private newestStamps(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
		const { commands, keys, guard } = this.parts;
		return guard.retrying(async () => {
			const point = await guard.begin(ids);
			const found = new Map<string, number>();
			await Promise.all(
				ids.map(async (id) => {
					const [marker, value] = point.tokenOf(slotOf(id));
					const version = await commands.versions(keys.version(id), marker, value, '', keys.prefix, id);
					const stamp = Number.parseInt(version as string, 10);
					if (!Number.isNaN(stamp)) found.set(id, stamp);
				}),
			);
			await guard.verify(point);
			return found;
		});
	}

	/** The user's fields in Redis: those that have changed lately. */
	private fieldsOf(user: string): Promise<Fields> {
		const { commands, keys, guard } = this.parts;
		return guard.retrying(async () => {
			const point = await guard.begin([user]);
			const stateKeys = [keys.fields(user), keys.fieldNames(user)];
			const answer = await commands.userChanges(...stateKeys, ...point.tokenOf(slotOf(user)), STORED);
			await guard.verify(point);
			return Object.fromEntries(pairs((answer as string[]).slice(2)));
		});
	}

	private remember(id: string, stamp: number): void {
		if (this.stored.size >= (this.parts.mostCached ?? MAX_CACHED)) this.stored.clear();
		this.stored.set(id, stamp);
	}

	private async until(isCaughtUp: () => Promise<boolean>): Promise<void> {
		const { nowMs } = this.parts;
		const end = nowMs() + TIMEOUT_MS;
		for (let pause = PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
			if (await isCaughtUp()) return;
			if (nowMs() > end)
				throw new Rejection('service_unavailable', 'the database does not have the latest changes yet');
			await Bun.sleep(pause);
		}
	}
}

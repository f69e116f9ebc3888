import { Refusal } from '../../model/errors.ts';
import type { Changes, OwnChanges } from '../ports/changes.ts';
import type { StateSource } from '../ports/store.ts';
import type { Commands } from './redis/connection.ts';
import type { Epoch } from './redis/epoch.ts';
import type { Keys } from './redis/keys.ts';
import { type Fields, followEntries, membershipEntries } from './redis/read-state/user-state.ts';

/**
 * The store trails what has happened, by a moment. Whoever reads from it what others may have been told already waits
 * here until it has that: the read state knows the newest stamp of a conversation, and of each membership.
 */

const PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
const PATIENCE_MS = 10_000;
/** Conversations whose stamp in the store is remembered: most reads then ask Redis alone. */
const REMEMBERED = 50_000;

export interface FreshnessParts {
	readonly commands: Commands;
	readonly keys: Keys;
	readonly epoch: Epoch;
	readonly source: Pick<StateSource, 'briefs'>;
	readonly changes: Pick<Changes, 'own'>;
	readonly nowMs: () => number;
}

export class Freshness {
	private readonly stored = new Map<string, number>();

	constructor(private readonly parts: FreshnessParts) {}

	/** Resolves when the store has everything that happened in these so far. */
	async conversations(ids: readonly string[]): Promise<void> {
		const wanted = await this.newestStamps(ids);
		await this.until(async () => {
			const behind = [...wanted].filter(([id, stamp]) => (this.stored.get(id) ?? 0) < stamp);
			if (behind.length === 0) return true;
			for (const { id, stamp } of await this.parts.source.briefs(behind.map(([id]) => id)))
				this.remember(id, stamp);
			return behind.every(([id, stamp]) => (this.stored.get(id) ?? 0) >= stamp);
		});
	}

	/** Resolves when the store has everything that the user did, or that was done to the user, after this stamp. */
	async user(user: string, since: number): Promise<void> {
		const fields = await this.parts.commands.hgetall(this.parts.keys.user(user));
		if (Object.keys(fields).length === 0) {
			await this.notLoaded(user);
			return;
		}
		const places = membershipEntries(fields).map(({ conversation }) => conversation);
		const stamps = await this.newestStamps(places);
		await this.conversations(places.filter((id) => (stamps.get(id) ?? 0) > since));
		await this.until(async () => !isBehind(await this.parts.changes.own(user, since), fields, since));
	}

	/** Who is not loaded has done nothing lately; but may have been taken into a conversation. */
	private async notLoaded(user: string): Promise<void> {
		const { commands, keys, epoch } = this.parts;
		const pending = await commands.lrange(keys.pending(user), 0, -1);
		if (pending.length === 0) await epoch.wholeSince();
		else
			await this.conversations(
				pending.map((text) => (JSON.parse(text) as { conversation: string }).conversation),
			);
	}

	/** Of those that are loaded. What is not loaded the store has, unless Redis was emptied. */
	private async newestStamps(ids: readonly string[]): Promise<Map<string, number>> {
		const { commands, keys, epoch } = this.parts;
		const stamps = await Promise.all(ids.map((id) => commands.hget(keys.meta(id), 'stamp')));
		if (stamps.includes(null)) await epoch.wholeSince();
		const found = new Map<string, number>();
		for (const [index, id] of ids.entries()) {
			const stamp = stamps[index];
			if (stamp) found.set(id, Number(stamp));
		}
		return found;
	}

	private remember(id: string, stamp: number): void {
		if (this.stored.size >= REMEMBERED) this.stored.clear();
		this.stored.set(id, stamp);
	}

	private async until(isThere: () => Promise<boolean>): Promise<void> {
		const { nowMs } = this.parts;
		const end = nowMs() + PATIENCE_MS;
		for (let pause = PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
			if (await isThere()) return;
			if (nowMs() > end) throw new Refusal('service_unavailable', 'the database is behind what has happened');
			await Bun.sleep(pause);
		}
	}
}

function isBehind(own: OwnChanges, fields: Fields, since: number): boolean {
	const memberships = new Map(own.memberships.map((row) => [row.conversation, row]));
	const isThere = membershipEntries(fields)
		.filter(({ membership }) => membership.at > since)
		.every(({ conversation, membership }) => {
			const row = memberships.get(conversation);
			return (
				row !== undefined &&
				row.joinedTs >= membership.joined &&
				Math.max(row.changedTs, row.preferredTs) >= membership.at
			);
		});
	if (!isThere) return true;
	const follows = new Map(own.follows.map((row) => [`${row.conversation} ${row.threadTs}`, row]));
	return followEntries(fields)
		.filter(({ follow }) => follow.at > since)
		.some(({ conversation, threadTs, follow }) => {
			const row = follows.get(`${conversation} ${threadTs}`);
			return row === undefined || row.since < follow.since || row.changedTs < follow.at;
		});
}

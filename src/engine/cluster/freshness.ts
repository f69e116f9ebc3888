import { Refusal } from '../../model/errors.ts';
import type { StateSource } from '../ports/store.ts';
import type { Commands } from './redis/connection.ts';
import type { Epoch } from './redis/epoch.ts';
import type { Keys } from './redis/keys.ts';
import { type Fields, membershipEntries } from './redis/read-state/user-state.ts';

/**
 * The store trails the log by a moment. A reader of what may have been delivered already waits
 * here until it has that: the read state knows the newest stamp of a conversation. What users did to their own read state
 * nobody waits for: that is read from Redis (own-changes.ts, fresh-readers.ts).
 */

const PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
const TIMEOUT_MS = 10_000;
/** Conversations whose stamp in the store is remembered: most reads then ask Redis alone. */
const REMEMBERED = 50_000;

export interface FreshnessParts {
	readonly commands: Commands;
	readonly keys: Keys;
	readonly epoch: Epoch;
	readonly source: Pick<StateSource, 'briefs'>;
	readonly nowMs: () => number;
	readonly remembered?: number;
}

export class Freshness {
	private readonly stored = new Map<string, number>();

	constructor(private readonly parts: FreshnessParts) {}

	/** Resolves when the store has everything that happened in these so far. */
	async conversations(ids: readonly string[]): Promise<void> {
		const wanted = await this.newestStamps(ids);
		// A list of its own: what is remembered may be dropped meanwhile.
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
	 * Resolves when the store has everything that was done to the user after this stamp: being taken into conversations and out of
	 * them, and coming to follow threads and ceasing to. Answers with the user's state in Redis, which knows what the user did
	 * as well; null where it is not loaded, and the store knows all.
	 */
	async user(user: string, since: number): Promise<Fields | null> {
		const fields = await this.parts.commands.hgetall(this.parts.keys.user(user));
		if (Object.keys(fields).length === 0) {
			await this.notLoaded(user);
			return null;
		}
		const places = membershipEntries(fields).map(({ conversation }) => conversation);
		const stamps = await this.newestStamps(places);
		await this.conversations(places.filter((id) => (stamps.get(id) ?? 0) > since));
		return fields;
	}

	/** Who is not loaded has done nothing lately; but may have been taken into a conversation. */
	private async notLoaded(user: string): Promise<void> {
		const { commands, keys, epoch } = this.parts;
		const pending = await commands.lrange(keys.pending(user), 0, -1);
		if (pending.length === 0) await epoch.assure([user]);
		else
			await this.conversations(
				pending.map((text) => (JSON.parse(text) as { conversation: string }).conversation),
			);
	}

	/** Of those that are loaded. What is not loaded the store has, unless Redis was emptied. */
	private async newestStamps(ids: readonly string[]): Promise<Map<string, number>> {
		const { commands, keys, epoch } = this.parts;
		const stamps = await Promise.all(ids.map((id) => commands.hget(keys.meta(id), 'stamp')));
		const missing = ids.filter((_, index) => stamps[index] === null);
		if (missing.length > 0) await epoch.assure(missing);
		const found = new Map<string, number>();
		for (const [index, id] of ids.entries()) {
			const stamp = stamps[index];
			if (stamp) found.set(id, Number(stamp));
		}
		return found;
	}

	private remember(id: string, stamp: number): void {
		if (this.stored.size >= (this.parts.remembered ?? REMEMBERED)) this.stored.clear();
		this.stored.set(id, stamp);
	}

	private async until(isThere: () => Promise<boolean>): Promise<void> {
		const { nowMs } = this.parts;
		const end = nowMs() + TIMEOUT_MS;
		for (let pause = PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
			if (await isThere()) return;
			if (nowMs() > end)
				throw new Refusal('service_unavailable', 'the database does not have the latest changes yet');
			await Bun.sleep(pause);
		}
	}
}

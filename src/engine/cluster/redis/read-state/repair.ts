import type { StateSource } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import type { Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { Loading } from './loading.ts';
import { storedFields } from './stored-fields.ts';
import type { Users } from './users.ts';

/**
 * Puts what the store has in the place of what is in Redis.
 *
 * Redis may have what the store does not have yet, so each attempt goes: how it stands in Redis, then what the store has, and
 * that is taken in by one script where Redis still stands as it did. Before, it is made sure that the store has everything of
 * it: of a conversation by its stamp, because it has one writer and is written in order; of a user's own state by the stamp of each
 * membership and follow. Nothing is ever removed in between: a load that is under way finds it there, and overwrites nothing.
 */

const PATIENCE_MS = 5_000;
const PAUSE_MS = 20;
const LONGEST_WAY_MS = 60 * 60 * 1000;

export interface RepairPatience {
	/** For how long each is attempted. */
	readonly patienceMs?: number;
	/** No change is on its way to the store for longer: a gateway keeps what it cannot hand over in its memory. */
	readonly longestWayMs?: number;
}

export interface RepairParts {
	readonly commands: Commands;
	readonly keys: Keys;
	readonly source: StateSource;
	readonly users: Users;
	readonly fence: Fence;
	readonly loading: Loading;
	readonly nowMicros: () => number;
	readonly patience?: RepairPatience | undefined;
}

type Outcome = 'repaired' | RepairProblem;

export class Repair {
	private readonly patienceMicros: number;
	private readonly longestWayMicros: number;

	constructor(private readonly parts: RepairParts) {
		const { patienceMs = PATIENCE_MS, longestWayMs = LONGEST_WAY_MS } = parts.patience ?? {};
		this.patienceMicros = patienceMs * 1000;
		this.longestWayMicros = longestWayMs * 1000;
	}

	async at(user: string, conversation: string): Promise<Outcome> {
		const ofUser = await this.repeatedly(() => this.user(user, conversation));
		const ofConversation = await this.repeatedly(() => this.parts.loading.reload(conversation));
		return ofUser === 'repaired' ? ofConversation : ofUser;
	}

	/** The user's cursor, what was read ahead, and follows, in this conversation. */
	private async user(id: string, conversation: string): Promise<Outcome> {
		const { commands, keys, source, users, fence, nowMicros } = this.parts;
		const fields = await users.read(id, null);
		// After the fields: what effects did to them is in the store when it has this stamp.
		const stamp = await commands.hget(keys.meta(conversation), 'stamp');
		const since = await fence.since([id, conversation]);
		const [brief] = await source.briefs([conversation]);
		if ((brief?.stamp ?? 0) < Number(stamp)) return 'store_behind';
		const rows = await source.user(id);
		await fence.still(since);
		const { behind, doubtfulUpTo, changed } = storedFields(fields, rows, conversation);
		if (behind) return 'store_behind';
		if (Object.keys(changed).length === 0) return 'repaired';
		if (doubtfulUpTo !== null && nowMicros() - doubtfulUpTo < this.longestWayMicros) return 'store_behind';
		return (await users.set(id, rows.stamp, fields, changed)) ? 'repaired' : 'changing';
	}

	private async repeatedly(attempt: () => Promise<Outcome>): Promise<Outcome> {
		const { nowMicros } = this.parts;
		const end = nowMicros() + this.patienceMicros;
		for (;;) {
			const outcome = await attempt();
			if (outcome === 'repaired' || nowMicros() >= end) return outcome;
			await Bun.sleep(PAUSE_MS);
		}
	}
}

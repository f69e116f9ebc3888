import type { Clock } from '../../../../model/ts.ts';
import type { Ledger, StateSource } from '../../../ports/store.ts';
import type { Commands } from '../connection.ts';
import type { Guard } from '../epoch-guard.ts';
import type { Keys } from '../keys.ts';

/** What all parts of the read state in Redis use. */

interface Services {
	readonly commands: Commands;
	readonly keys: Keys;
	readonly source: StateSource;
	/** Makes marks durable. */
	readonly ledger: Ledger;
	readonly clock: Clock;
	readonly nowMicros: () => number;
	/** Detects that Redis was emptied, or restarted with old data. */
	readonly guard: Guard;
}

const DEFAULTS = {
	/** State that did not change for this long expires in Redis: the store has it. */
	ttlSeconds: 24 * 60 * 60,
	/** Maximum difference between the clocks of processes that assign stamps. */
	overlapMicros: 0,
	/** How many changes of a conversation stay in Redis after the store has them, for copies that lack them. */
	keptChanges: 128,
	/** Maximum memory of the copies of conversations in this process, and of those of users. */
	viewBytes: 64 * 1024 * 1024,
	/** How long a gateway may hold a change that it cannot append: a repair treats younger changes as not yet stored. */
	mostStoreLagMs: 60 * 60 * 1000,
};

export type RedisViewsParts = Services & Partial<Readonly<typeof DEFAULTS>>;
export type Context = Services & Readonly<typeof DEFAULTS>;

export const contextOf = (parts: RedisViewsParts): Context => ({ ...DEFAULTS, ...parts });

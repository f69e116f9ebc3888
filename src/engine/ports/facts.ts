import type { NotificationLevel } from '../../model/views.ts';
import type { Effect } from '../../sequencer/effects.ts';

/** What the store keeps: the sequencer's effects, and what the read state changed. */

export type { NotificationLevel };

/**
 * What an engine of several processes adds to a fact about a membership, because there facts reach the store in
 * another order than they took place: which membership it is about, so that neither the join has to be there yet
 * nor an older fact undoes a newer one.
 */
export interface OfMembership {
	/** Stamp of the join that the membership began with. */
	readonly joined: number;
	readonly cursor: number;
	readonly revision: number;
	/** All of what was read ahead, instead of what changed of it. */
	readonly ahead: readonly number[];
}

export type ReadFact =
	/** A read position, as it is after the change. */
	| {
			readonly type: 'cursor';
			readonly user: string;
			readonly conversation: string;
			readonly at: number;
			readonly cursor: number;
			readonly revision: number;
			readonly ahead?: {
				readonly add?: readonly number[];
				/** Entries at or before this ts were removed. */
				readonly dropUpTo?: number;
				/** Entries from this ts on were removed. */
				readonly dropFrom?: number;
			};
			readonly of?: OfMembership;
	  }
	| {
			readonly type: 'thread_cursor';
			readonly user: string;
			readonly conversation: string;
			readonly threadTs: number;
			readonly at: number;
			readonly cursor: number;
			/** Stamp of when following began, where facts may come in another order; as `of` above. */
			readonly since?: number;
	  }
	| {
			readonly type: 'preference';
			readonly user: string;
			readonly conversation: string;
			readonly at: number;
			readonly muted: boolean;
			readonly level: NotificationLevel;
			readonly of?: OfMembership;
	  }
	/** The user became active (connected and not set to away), or inactive. */
	| { readonly type: 'activity'; readonly user: string; readonly at: number; readonly active: boolean };

export type Fact = Effect | ReadFact;

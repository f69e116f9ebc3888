import type { NotificationLevel } from '../../model/views.ts';
import type { Effect } from '../../sequencer/effects.ts';

/** Facts are what the store persists: effects of the sequencer, and changes of the read state. */

export type { NotificationLevel };

/**
 * The whole membership that a fact is about. Engines with several processes add it, because there facts can reach the store
 * in a different order than they happened. With it, the store can write a fact that arrives before the fact of its join, and an
 * older fact cannot undo a newer one.
 */
export interface MembershipState {
	/** Stamp of the join that the membership began with. */
	readonly joined: number;
	readonly cursor: number;
	readonly revision: number;
	/** The complete ahead set, not only its changes. */
	readonly ahead: readonly number[];
}

export type ReadFact =
	/** A cursor after the change. */
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
			readonly of?: MembershipState;
	  }
	| {
			readonly type: 'thread_cursor';
			readonly user: string;
			readonly conversation: string;
			readonly threadTs: number;
			readonly at: number;
			readonly cursor: number;
			/** Stamp of when following began, if facts can arrive out of order; as `of` above. */
			readonly since?: number;
	  }
	| {
			readonly type: 'preference';
			readonly user: string;
			readonly conversation: string;
			readonly at: number;
			readonly muted: boolean;
			readonly level: NotificationLevel;
			readonly of?: MembershipState;
	  }
	/**
	 * The user's own post, persisted while the read state was lost and could not apply it. The store moves the user's cursor onto it, if
	 * the user had read everything before it. It keeps the cursor's stamp, so that every mark that arrives later wins.
	 */
	| {
			readonly type: 'own_post';
			readonly user: string;
			readonly conversation: string;
			readonly at: number;
			readonly inTimeline: boolean;
			readonly threadTs: number | null;
	  }
	/** The user became active (connected and not set to away), or inactive. */
	| { readonly type: 'activity'; readonly user: string; readonly at: number; readonly active: boolean };

export type Fact = Effect | ReadFact;

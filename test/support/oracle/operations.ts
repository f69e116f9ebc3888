/** One concrete operation, as both the server and the oracle get it. `by`: the user who acts on another user. */

import type { ConversationKind } from './types.ts';

interface InConversation {
	conversation: string;
}

interface ByUser extends InConversation {
	user: string;
}

interface InThread extends ByUser {
	threadTs: number;
}

export type Operation =
	| { kind: 'create'; slot: number; name: string; type: ConversationKind; members: string[] }
	/** `by`: the member who invites, for private channels, which users cannot join by themselves. */
	| ({ kind: 'join'; by: string | undefined } & ByUser)
	| ({ kind: 'leave' } & ByUser)
	| ({ kind: 'kick'; by: string } & ByUser)
	| ({ kind: 'archive'; by: string } & InConversation)
	| ({ kind: 'unarchive'; by: string } & InConversation)
	| ({ kind: 'post'; text: string } & ByUser)
	| ({ kind: 'reply'; text: string; broadcast: boolean } & InThread)
	| ({ kind: 'edit'; ts: number; text: string } & ByUser)
	| ({ kind: 'remove'; ts: number } & ByUser)
	| ({ kind: 'mark'; ts: number; revision: number | undefined } & ByUser)
	| ({ kind: 'markUnread'; ts: number } & ByUser)
	| ({ kind: 'markMessage'; ts: number } & ByUser)
	| { kind: 'markAllRead'; user: string }
	| ({ kind: 'mute'; muted: boolean } & ByUser)
	| ({ kind: 'follow'; lastRead: number | undefined } & InThread)
	| ({ kind: 'unfollow' } & InThread)
	| ({ kind: 'markThread'; ts: number } & InThread)
	| ({ kind: 'markThreadUnread'; ts: number } & InThread)
	| { kind: 'setActive'; user: string; active: boolean };

export type OperationKind = Operation['kind'];

/**
 * A planned operation. Its own seed decides at run time what it refers to, from the current state, so any operation can
 * be removed from a history and the rest still makes sense.
 */
export interface PlannedOperation {
	/** The seed of the whole history, named in failures. */
	readonly history: number;
	readonly step: number;
	readonly kind: OperationKind;
	readonly seed: number;
	readonly groups: Groups;
	/** For `create`: which conversation of the plan. */
	readonly slot?: number;
}

/** The groups of operations that a history may contain; a new server can enable them in stages. */
export interface Groups {
	readonly threads: boolean;
	readonly mentions: boolean;
	/** Follow and unfollow; needs `threads`. */
	readonly subscriptions: boolean;
	/** Being active, and `<!here>`. */
	readonly presence: boolean;
}

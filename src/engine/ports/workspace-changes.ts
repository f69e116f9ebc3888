import type { Conversation } from '../../model/conversation.ts';
import type { User } from './accounts.ts';

/** Changed users and new public channels of a workspace, each in its current state. */

export interface UserChange {
	readonly user: User;
	/** The user was created, and nothing has changed since. */
	readonly isNew: boolean;
}

/** Where the next page starts: after this stamp, and within it after this id. */
export type ChangePageStart = readonly [at: number, id: string];

export interface WorkspaceChanges {
	/** Users created or changed after this place, by stamp and id. */
	users(team: string, after: ChangePageStart, limit: number): Promise<readonly UserChange[]>;
	/** Public channels created after this place, by stamp and id. */
	channels(team: string, after: ChangePageStart, limit: number): Promise<readonly Conversation[]>;
}

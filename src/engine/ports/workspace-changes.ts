import type { Conversation } from '../../model/conversation.ts';
import type { User } from './accounts.ts';

/** What changed in a workspace beside its conversations, as it is now. */

export interface UserChange {
	readonly user: User;
	/** The user was created, and nothing has changed since. */
	readonly isNew: boolean;
}

/** After which stamp, and within it after which id, to read on. */
export type ChangePlace = readonly [at: number, id: string];

export interface WorkspaceChanges {
	/** Users who were created or changed after this place, by stamp and id. */
	users(team: string, after: ChangePlace, limit: number): Promise<readonly UserChange[]>;
	/** Public channels that were created after it, likewise. */
	channels(team: string, after: ChangePlace, limit: number): Promise<readonly Conversation[]>;
}

import type { Page, Token, User } from './accounts.ts';

/** Invite links: each signs in one user, once, before it expires. */

export interface Invite {
	/** SHA-256 of the secret in the link, hex: the secret itself is never stored. */
	readonly hash: string;
	readonly team: string;
	/** The user that the link signs in; null: a new user, who chooses a name. */
	readonly user: string | null;
	readonly createdTs: number;
	readonly expiresTs: number;
	readonly revokedTs: number | null;
	readonly usedTs: number | null;
	/** A label that the creator chose; may be empty. */
	readonly label: string;
	/** The user who created it; null: the administrator. */
	readonly creator: string | null;
}

/** `used`: a concurrent request used the link, or it was revoked in the meantime. */
export type Acceptance = 'accepted' | 'used' | 'name_taken';

export interface Invites {
	createInvite(invite: Invite): Promise<void>;
	invite(hash: string): Promise<Invite | null>;
	/** Ordered by hash; includes used, revoked and expired ones. */
	invitesOf(team: string, after: string | null, limit: number): Promise<Page<Invite>>;
	/** The invite whose hash starts with this; null if there is none, or more than one. */
	inviteStarting(hashStart: string): Promise<Invite | null>;
	revokeInvite(hash: string, at: number): Promise<void>;
	/**
	 * Exchanges the link for a token and creates the user if `newUser` is given, atomically. If several requests use the link at
	 * once, one succeeds. If the name is taken, the link stays valid.
	 */
	acceptInvite(hash: string, token: Token, newUser: User | null): Promise<Acceptance>;
}

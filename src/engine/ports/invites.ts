import type { Page, Token, User } from './accounts.ts';

/** Links that let one person in: used once, until they expire. */

export interface Invite {
	/** SHA-256 of the secret in the link, hex: the secret itself is never stored. */
	readonly hash: string;
	readonly team: string;
	/** Whom the link signs in; null: a new user, who chooses a name. */
	readonly user: string | null;
	readonly createdTs: number;
	readonly expiresTs: number;
	readonly revokedTs: number | null;
	readonly usedTs: number | null;
	/** What its maker wrote to recognise it by; may be empty. */
	readonly label: string;
	/** The user who made it; null: the administrator. */
	readonly creator: string | null;
}

/** `used`: another request was faster, or the link was revoked meanwhile. */
export type Acceptance = 'accepted' | 'used' | 'name_taken';

export interface Invites {
	createInvite(invite: Invite): Promise<void>;
	invite(hash: string): Promise<Invite | null>;
	/** By hash; used, revoked and expired ones too. */
	invitesOf(team: string, after: string | null, limit: number): Promise<Page<Invite>>;
	/** The invite whose hash starts so; null where none does, or several do. */
	inviteStarting(hashStart: string): Promise<Invite | null>;
	revokeInvite(hash: string, at: number): Promise<void>;
	/**
	 * Exchanges the link for a token, and creates the user where `newUser` is given: all of it, or nothing. Of several who try at
	 * once one succeeds. A name that is taken leaves the link as it was.
	 */
	acceptInvite(hash: string, token: Token, newUser: User | null): Promise<Acceptance>;
}

/** Workspaces, users and tokens, as they are stored. */

export interface Team {
	readonly id: string;
	readonly name: string;
	readonly domain: string;
	/** Micros. */
	readonly createdTs: number;
}

export interface User {
	readonly id: string;
	readonly team: string;
	readonly name: string;
	readonly realName: string;
	readonly email: string;
	readonly isBot: boolean;
	/** Deactivated: the user cannot sign in; what they wrote stays. */
	readonly deleted: boolean;
	/** Micros. */
	readonly updatedTs: number;
	/** Tokens issued at or before this moment are not accepted. Micros; 0: the user was never signed out. */
	readonly signedOutTs: number;
	/** What they say of themselves. */
	readonly profile: Profile;
	/** Nothing is pushed to their devices until then. Micros; 0: notifications were never snoozed. */
	readonly snoozedUntilTs: number;
}

/** Fields of Slack's profile that users set themselves; those that were never set are absent. */
export interface Profile {
	readonly status_text?: string;
	readonly status_emoji?: string;
	/** Seconds; the status ends then. 0: it does not end by itself. */
	readonly status_expiration?: number;
	readonly display_name?: string;
	readonly title?: string;
	readonly phone?: string;
	readonly pronouns?: string;
	/** Name of the photo (src/model/photos.ts). */
	readonly photo?: string;
}

export interface Token {
	/** SHA-256 of the token, hex: the token itself is never stored. */
	readonly hash: string;
	readonly user: string;
	readonly team: string;
	readonly createdTs: number;
	readonly revokedTs: number | null;
	/** Micros; null: it does not expire. */
	readonly expiresTs: number | null;
	/** What its owner knows the device by; absent where nobody said. */
	readonly device?: string;
	/** Micros, to within some minutes; absent: not since this is recorded. */
	readonly lastUsedTs?: number;
}

export interface TokenUse {
	readonly hash: string;
	/** Micros. */
	readonly at: number;
}

export interface Page<T> {
	readonly items: readonly T[];
	/** Where the next page starts (opaque to the caller); null at the end. */
	readonly next: string | null;
}

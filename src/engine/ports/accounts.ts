/** Workspaces, users and tokens, as stored. */

export interface Team {
	readonly id: string;
	readonly name: string;
	readonly domain: string;
	/** In microseconds. */
	readonly createdTs: number;
}

export interface User {
	readonly id: string;
	readonly team: string;
	readonly name: string;
	readonly realName: string;
	readonly email: string;
	readonly isBot: boolean;
	/** Deactivated: the user cannot sign in; their messages stay. */
	readonly deleted: boolean;
	/** In microseconds. */
	readonly updatedTs: number;
	/** JWTs issued at or before this time are rejected. In microseconds; 0: the user was never signed out. */
	readonly signedOutTs: number;
	readonly profile: Profile;
	/** No push notifications until this time. In microseconds; 0: never snoozed. */
	readonly snoozedUntilTs: number;
}

/** Fields of Slack's profile that users set themselves; absent if never set. */
export interface Profile {
	readonly status_text?: string;
	readonly status_emoji?: string;
	/** In seconds: when the status ends. 0: it does not expire. */
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
	/** In microseconds; null: it does not expire. */
	readonly expiresTs: number | null;
	/** Name of the device for its owner; absent if unknown. */
	readonly device?: string;
	/** In microseconds, accurate to a few minutes; absent: not used since recording began. */
	readonly lastUsedTs?: number;
}

export interface TokenUse {
	readonly hash: string;
	/** In microseconds. */
	readonly at: number;
}

export interface Page<T> {
	readonly items: readonly T[];
	/** Start of the next page, opaque to the caller; null at the end. */
	readonly next: string | null;
}

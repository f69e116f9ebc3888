import type { User } from '../../engine/ports/store.ts';

/** Who asks. */

export interface UserCaller {
	readonly kind: 'user';
	readonly user: User;
	readonly team: string;
	readonly tokenHash: string;
	/** When the token ends, ms; infinite for one without an end. */
	readonly expiresAt: number;
	/** When the token was issued, ms; 0 where it does not say. */
	readonly issuedAt: number;
}

export interface AdminCaller {
	readonly kind: 'admin';
}

/** An app, by one of its app-level tokens. */
export interface AppCaller {
	readonly kind: 'app';
	readonly app: string;
	readonly team: string;
	readonly tokenHash: string;
}

/** Of the few methods that need no token. */
export interface StrangerCaller {
	readonly kind: 'stranger';
}

export const STRANGER: StrangerCaller = { kind: 'stranger' };

export type Caller = UserCaller | AdminCaller | AppCaller | StrangerCaller;

import type { User } from '../../engine/ports/store.ts';

/** The caller of a method. */

export interface UserCaller {
	readonly kind: 'user';
	readonly user: User;
	readonly team: string;
	/** The key under which the store has the token (`tokenKey` in tokens.ts). */
	readonly tokenKey: string;
	/** Expiry of the token in ms; infinite if it does not expire. */
	readonly expiresAt: number;
	/** When the token was issued, in ms; 0: unknown. */
	readonly issuedAt: number;
}

export interface AdminCaller {
	readonly kind: 'admin';
}

/** An app that calls with an app-level token. */
export interface AppCaller {
	readonly kind: 'app';
	readonly app: string;
	readonly team: string;
	readonly tokenKey: string;
}

/** The caller of one of the few methods that need no token. */
export interface AnonymousCaller {
	readonly kind: 'anonymous';
}

export const ANONYMOUS: AnonymousCaller = { kind: 'anonymous' };

export type Caller = UserCaller | AdminCaller | AppCaller | AnonymousCaller;

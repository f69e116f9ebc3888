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

export type Caller = UserCaller | AdminCaller;

import type { User } from '../../engine/ports/store.ts';

/** Who asks. */

export interface UserCaller {
	readonly kind: 'user';
	readonly user: User;
	readonly team: string;
	readonly tokenHash: string;
}

export interface AdminCaller {
	readonly kind: 'admin';
}

export type Caller = UserCaller | AdminCaller;

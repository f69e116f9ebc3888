import type { User } from '../engine/ports/store.ts';
import { formatTs } from '../model/ts.ts';
import { type JsonObject, wireUser } from './objects.ts';

/**
 * A user changed. The event has no position, because it belongs to no conversation: a client that resumes loads
 * current users.
 */
export const userChangeEvent = (user: User, at: number): JsonObject => ({
	type: 'user_change',
	user: wireUser(user, at),
	cache_ts: Math.floor(at / 1e6),
	event_ts: formatTs(at),
});

/** A user was created. */
export const teamJoinEvent = (user: User): JsonObject => ({
	type: 'team_join',
	user: wireUser(user, user.updatedTs),
	cache_ts: Math.floor(user.updatedTs / 1e6),
	event_ts: formatTs(user.updatedTs),
});

import type { Caller } from '../auth/caller.ts';

/**
 * The scopes of a token for Slack's `X-OAuth-Scopes` header, which tools check first. A token may do what its user
 * may, so all users have one list and all bots another.
 */

const SHARED = [
	'channels:history',
	'channels:read',
	'chat:write',
	'dnd:read',
	'emoji:read',
	'files:read',
	'files:write',
	'groups:history',
	'groups:read',
	'groups:write',
	'im:history',
	'im:read',
	'im:write',
	'mpim:history',
	'mpim:read',
	'mpim:write',
	'rtm:stream',
	'team:read',
	'usergroups:read',
	'users.profile:read',
	'users:read',
	'users:read.email',
	'users:write',
];

const OF_USERS = [
	'identify',
	'client',
	'channels:write',
	'dnd:write',
	'users.profile:write',
	...SHARED,
].join();
const OF_BOTS = ['bot', 'channels:join', 'channels:manage', 'chat:write.customize', ...SHARED].join();

/** Null: the caller is not a user or bot. */
export function scopesOf(caller: Caller): string | null {
	if (caller.kind !== 'user') return null;
	return caller.user.isBot ? OF_BOTS : OF_USERS;
}

import { networks, setting, wholeNumber } from './setting.ts';

/** Limits on rates, connections, memory and time. */
export const limitSettings = {
	requestsPerSecond: setting(
		'requests-per-second',
		'requests and frames that a user may send per second, averaged; 0: no limit',
		1_000,
		wholeNumber(0, 1_000_000),
	),
	postsPerSecond: setting(
		'posts-per-second',
		'messages that a user may post per second, averaged; 0: no limit',
		500,
		wholeNumber(0, 1_000_000),
	),
	connectsPerSecond: setting(
		'connects-per-second',
		'sockets that a user may open per second, averaged; 0: no limit',
		10,
		wholeNumber(0, 1_000_000),
	),
	socketsPerUser: setting(
		'sockets-per-user',
		'maximum number of open sockets per user at one gateway; the server closes further ones with code 4204',
		100,
		wholeNumber(1, 1_000_000),
	),
	socketsPerAddress: setting(
		'sockets-per-address',
		'maximum number of open sockets per address at one gateway; the server closes further ones with code 4003 after a pause',
		10_000,
		wholeNumber(1, 1_000_000),
	),
	anonymousPerSecond: setting(
		'anonymous-per-second',
		'requests without a valid token that an address may send per second, averaged; 0: no limit',
		50,
		wholeNumber(0, 1_000_000),
	),
	trustedProxies: setting(
		'trusted-proxies',
		'addresses and networks of reverse proxies whose X-Forwarded-For the server trusts, separated by commas; the word none: no proxy',
		['127.0.0.0/8', '::1'] as readonly string[],
		networks,
	),
	bodyMemoryMb: setting(
		'body-memory-mb',
		'memory for request bodies in flight; a user or address gets an eighth of it, and always enough for one body',
		64,
		wholeNumber(8, 65_536),
	),
	answerMemoryMb: setting(
		'answer-memory-mb',
		'memory for large answers that clients have not read yet; a user may hold an eighth of it, and always one answer; unread output of all sockets may take as much again',
		128,
		wholeNumber(32, 65_536),
	),
	socketBufferKb: setting(
		'socket-buffer-kb',
		'maximum unsent output per socket; a client that reads too slowly is disconnected',
		1_024,
		wholeNumber(16, 1_048_576),
	),
	socketTimeoutSeconds: setting(
		'socket-timeout-seconds',
		'silence after which the server pings a client; after the same time without an answer it closes the socket',
		30,
		wholeNumber(1, 3_600),
	),
	idleMinutes: setting(
		'idle-minutes',
		'how long unused conversations and users stay in memory; gateways of a cluster ignore it',
		24 * 60,
		wholeNumber(5, 525_600),
	),
	resumeChanges: setting(
		'resume-changes',
		'changes that a client may miss and still resume; if it missed more, it reloads everything',
		10_000,
		wholeNumber(1, 1_000_000),
	),
	focusIdleSeconds: setting(
		'focus-idle-seconds',
		'time without activity after which a device’s focus no longer marks messages as read',
		600,
		wholeNumber(1, 86_400),
	),
} as const;

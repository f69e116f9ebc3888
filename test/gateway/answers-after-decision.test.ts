import { beforeEach, expect, test } from 'bun:test';
import { AnonymousLimits } from '../../src/gateway/anonymous-limits.ts';
import { newToken, sha256 } from '../../src/gateway/auth/tokens.ts';
import { handle } from '../../src/gateway/http/server.ts';
import { Limits } from '../../src/gateway/limits.ts';
import { MemoryBudget } from '../../src/gateway/memory-budget.ts';
import type { Services } from '../../src/gateway/services.ts';
import { Rejection } from '../../src/model/errors.ts';
import type { Action, Result } from '../../src/sequencer/commands.ts';
import { conversation, message } from '../support/store/facts.ts';
import { ADMIN_TOKEN, authenticator, HandClock, random, SmallDirectory, TEAM, userNamed } from './support.ts';

/**
 * A decided change has happened. If the answer cannot be completed afterwards, it still reports success, and never that
 * nothing changed.
 */

const TOKEN = newToken(false, random);
const CHANNEL = 'C0000000001';
const TS = 1_700_000_000_000_001;
const WIRE_TS = '1700000000.000001';
const UNLIMITED = { perSecond: 0, burst: 0 };
const place = conversation(CHANNEL, { team: TEAM, name: 'old' });

let isDecided: boolean;
let services: Services;

/** Answers until a command is decided; afterwards every call fails. */
const untilDecided = (methods: Readonly<Record<string, (...args: never[]) => unknown>>) =>
	new Proxy(methods, {
		get: (target, name) =>
			typeof name === 'symbol'
				? undefined
				: async (...args: readonly unknown[]) => {
						if (isDecided) throw new Rejection('service_unavailable', `${name} was asked after the decision`);
						return target[name]?.(...(args as never[]));
					},
	});

function resultOf(action: Action): Result {
	switch (action.type) {
		case 'post':
			return { message: message(CHANNEL, TS + 1, { threadTs: action.threadTs }), parentUser: 'U456' };
		case 'edit':
		case 'delete':
			return { message: message(CHANNEL, TS), thread: null };
		case 'follow':
			return { follow: { cursor: TS, active: true, since: TS } };
		case 'create':
			return { conversation: { ...place, ...action.conversation } };
		default:
			return { conversation: place, added: 1, alreadyMembers: 0 };
	}
}

beforeEach(() => {
	const clock = new HandClock();
	const people = new SmallDirectory().add(userNamed('U123'), TOKEN).add(userNamed('U456'));
	isDecided = false;
	services = {
		auth: authenticator(people, clock),
		anonymousLimits: new AnonymousLimits({ perSecond: 1, burst: 5 }, clock.now),
		bodyMemory: new MemoryBudget({ totalBytes: 1 << 20, shareBytes: 1 << 18, nowMs: clock.now }),
		limits: new Limits(
			{ requests: UNLIMITED, posts: UNLIMITED, connects: { ...UNLIMITED, jitterSeconds: 0 } },
			clock.now,
			() => 0,
		),
		directory: untilDecided({
			users: (ids: readonly string[]) => people.users(ids),
			conversations: async () => [place],
			reserveName: async () => true,
		}),
		history: untilDecided({}),
		readState: untilDecided({
			member: async (_: string, id: string) => (id === CHANNEL ? { revision: 0 } : null),
		}),
		teamSecrets: untilDecided({ digestFor: async () => sha256 }),
		clock: { next: () => TS },
		random,
		partners: { check: async () => undefined },
		requests: {
			submit: async (_actor: unknown, _channel: string, action: Action) => {
				isDecided = true;
				return resultOf(action);
			},
		},
		operations: { observe: () => undefined, failed: (_: string, error: unknown) => console.error(error) },
	} as unknown as Services;
});

async function call(method: string, args: Record<string, string>, token: string) {
	const body = new URLSearchParams(args);
	const headers = {
		host: 'localhost:8080',
		authorization: `Bearer ${token}`,
		'content-length': String(`${body}`.length),
	};
	const request = new Request(`http://localhost:8080/api/${method}`, {
		method: 'POST',
		headers,
		body,
	});
	const response = await handle(request, services);
	return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
}

const channel = CHANNEL;
const CALLS: readonly [string, Record<string, string>, object?][] = [
	['chat.postMessage', { channel, text: 'hi' }],
	['chat.postMessage', { channel, text: 'hi', thread_ts: WIRE_TS }, { message: { parent_user_id: 'U456' } }],
	['chat.update', { channel, ts: WIRE_TS, text: 'hi' }],
	['chat.delete', { channel, ts: WIRE_TS }],
	['conversations.create', { name: 'new' }, { channel: { name: 'new', is_member: true } }],
	['conversations.rename', { channel, name: 'new' }, { channel: { id: channel } }],
	['conversations.join', { channel }, { channel: { id: channel, is_member: true } }],
	['conversations.leave', { channel }],
	['conversations.invite', { channel, users: 'U456' }, { channel: { id: channel } }],
	['conversations.kick', { channel, user: 'U456' }],
	['conversations.archive', { channel }],
	['conversations.unarchive', { channel }],
	['conversations.setTopic', { channel, topic: 'hi' }, { channel: { id: channel } }],
	['conversations.setPurpose', { channel, purpose: 'hi' }, { channel: { id: channel } }],
	['conversations.open', { users: 'U456', return_im: 'true' }, { channel: { is_im: true, user: 'U456' } }],
	['subscriptions.thread.add', { channel, thread_ts: WIRE_TS }, { subscription: { last_read: WIRE_TS } }],
	['subscriptions.thread.remove', { channel, thread_ts: WIRE_TS }],
	['admin.conversations.addMembers', { channel, users: 'U456' }, { added: 1 }],
];

for (const [method, args, expected = {}] of CALLS)
	test(`${method} ${Object.keys(args).join(' ')} succeeds, even if nothing can be read after the decision`, async () => {
		const answer = await call(method, args, method.startsWith('admin.') ? ADMIN_TOKEN : TOKEN);
		expect(answer).toMatchObject({ status: 200, ok: true, ...expected });
		expect(isDecided).toBe(true);
	});

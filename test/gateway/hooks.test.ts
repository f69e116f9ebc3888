import { expect, test } from 'bun:test';
import { serveHook } from '../../src/gateway/apps/hooks.ts';
import { tokenKey } from '../../src/gateway/auth/tokens.ts';
import type { Services } from '../../src/gateway/services.ts';
import { type ErrorCode, Rejection } from '../../src/model/errors.ts';

/** The answers of a webhook whose message the worker does not post: senders retry on 429 and 5xx, and give up on other statuses. */

async function answerTo(code: ErrorCode): Promise<[status: number, text: string]> {
	const services = {
		anonymousLimits: { admit: () => undefined },
		limits: { take: () => 0 },
		apps: {
			webhook: async () => ({ team: 'T1', app: 'A1', conversation: 'C1', hash: tokenKey('secret') }),
			app: async () => ({ id: 'A1', team: 'T1', botUser: 'UBOT' }),
		},
		requests: { submit: () => Promise.reject(new Rejection(code)) },
		operations: { failed: () => undefined },
	} as unknown as Services;
	const path = '/services/T1/B1/secret';
	const request = new Request(`http://localhost${path}`, { method: 'POST', body: '{"text":"high water"}' });
	const answer = await serveHook(path, request, services, null);
	return [answer.status, await answer.text()];
}

test.each([
	['internal_error', 500, 'server_error'],
	['outcome_unknown', 500, 'outcome_unknown'],
	['service_unavailable', 503, 'service_unavailable'],
	['ratelimited', 429, 'ratelimited'],
	['is_archived', 410, 'channel_is_archived'],
	['msg_too_long', 400, 'msg_too_long'],
] as const)('%s is answered with %i', async (code, status, text) => {
	expect(await answerTo(code)).toEqual([status, text]);
});

/** The answer of a `response_url` if looking up the secret of its workspace fails with this error. */
async function answerOfResponseUrl(error: Error): Promise<[status: number, text: string]> {
	const services = {
		anonymousLimits: { admit: () => undefined, failed: () => undefined },
		teamSecrets: { digestFor: () => Promise.reject(error) },
		operations: { failed: () => undefined },
	} as unknown as Services;
	const pass = Buffer.from(JSON.stringify({ team: 'T0000000001' })).toString('base64url');
	const path = `/responses/${pass}.c2ln`;
	const answer = await serveHook(
		path,
		new Request(`http://localhost${path}`, { method: 'POST' }),
		services,
		null,
	);
	return [answer.status, await answer.text()];
}

test.each([
	['an unknown workspace', new Rejection('team_not_found'), 404, 'expired_url'],
	['an outage', new Rejection('service_unavailable'), 503, 'service_unavailable'],
	['an overload', new Rejection('ratelimited'), 429, 'ratelimited'],
	['an unexpected error', new Error('broken'), 500, 'server_error'],
])('a response_url is answered as expired only if it is: %s', async (_, error, status, text) => {
	expect(await answerOfResponseUrl(error)).toEqual([status, text]);
});

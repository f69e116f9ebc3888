import { Rejection } from '../../model/errors.ts';
import type { RandomBytes } from '../../model/ids.ts';
import { ANY_ORIGIN } from '../../protocol/addresses.ts';
import { type JsonObject, parseJsonObject } from '../../protocol/objects.ts';
import { sameHash, tokenKey } from '../auth/tokens.ts';
import { addForm, type RawArguments, readText } from '../http/body.ts';
import { hasContent } from '../http/message-content.ts';
import type { Services } from '../services.ts';
import { parseAppMessage, postAsApp, respond } from './app-messages.ts';
import { redeemResponse } from './passes.ts';

/**
 * Addresses that accept a message without a token: incoming webhooks, and the response_url of a command or an
 * action. Both answer `ok` or one of Slack's error texts with its status.
 */

const SECRET_BYTES = 18;
/** Followed by the workspace, the webhook's id and its secret. */
const WEBHOOK_PATH = '/services/';

export const newWebhookSecret = (random: RandomBytes): string =>
	Buffer.from(random(SECRET_BYTES)).toString('base64url').replace(/[-_]/g, 'x');

export const webhookUrl = (base: string, team: string, id: string, secret: string): string =>
	`${base.replace(/\/+$/, '')}${WEBHOOK_PATH}${team}/${id}/${secret}`;

const RESPONSE_PATH = '/responses/';

/**
 * The address at which an app answers a command or an action later. The transport inserts the origin for the app.
 * Never the origin of the user's request: the user could choose the host to which the app sends its answer.
 */
export const responseUrl = (pass: string): string => `${ANY_ORIGIN}${RESPONSE_PATH}${pass}`;

export const isHook = (path: string): boolean =>
	path.startsWith(WEBHOOK_PATH) || path.startsWith(RESPONSE_PATH);

/** Slack's error texts for webhooks. */
class HookRejection extends Error {
	constructor(
		readonly status: number,
		readonly text: string,
	) {
		super(text);
	}
}

const STATUS_OF: Readonly<Record<string, number>> = {
	channel_not_found: 404,
	is_archived: 410,
	no_text: 400,
	ratelimited: 429,
	service_unavailable: 503,
	outcome_unknown: 500,
	internal_error: 500,
};
/** Codes for which Slack's webhooks use another text. */
const TEXT_OF: Readonly<Record<string, string>> = {
	is_archived: 'channel_is_archived',
	internal_error: 'server_error',
};

export async function serveHook(
	path: string,
	request: Request,
	services: Services,
	address: string | null,
): Promise<Response> {
	try {
		if (request.method !== 'POST') throw new HookRejection(400, 'invalid_payload');
		services.anonymousLimits.admit(address);
		const isWebhook = path.startsWith(WEBHOOK_PATH);
		await (isWebhook
			? webhook(path, request, services, address)
			: response(path, request, services, address));
		return text(200, 'ok');
	} catch (error) {
		if (error instanceof HookRejection) return text(error.status, error.text);
		if (!(error instanceof Rejection)) {
			services.operations.failed('hooks', error);
			return text(500, 'server_error');
		}
		const status = STATUS_OF[error.code] ?? 400;
		const answer = text(status, TEXT_OF[error.code] ?? error.code);
		if (error.retryAfterSeconds !== undefined)
			answer.headers.set('retry-after', String(error.retryAfterSeconds));
		return answer;
	}
}

const text = (status: number, body: string): Response =>
	new Response(body, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });

async function webhook(path: string, request: Request, services: Services, address: string | null) {
	const [team = '', id = '', secret = ''] = path.slice(WEBHOOK_PATH.length).split('/');
	const found = await services.apps.webhook(id);
	if (!found || found.team !== team || !sameHash(found.hash, tokenKey(secret))) {
		services.anonymousLimits.failed(address);
		throw new HookRejection(404, 'no_service');
	}
	limit(services, id);
	const app = await services.apps.app(found.app);
	if (!app) throw new HookRejection(404, 'no_service');
	const payload = await payloadOf(request);
	const message = parseAppMessage({ ...payload, channel: undefined, response_type: undefined });
	if (!hasContent(message)) throw new HookRejection(400, 'no_text');
	await postAsApp(services, app, await channelOf(services, found, payload.channel), message);
}

/** A webhook posts to its channel; older tools may name another public channel. */
async function channelOf(
	{ directory }: Services,
	{ team, conversation }: { readonly team: string; readonly conversation: string },
	wanted: JsonObject[string],
): Promise<string> {
	if (typeof wanted !== 'string' || wanted === '') return conversation;
	const name = wanted.replace(/^#/, '');
	const isId = /^C[A-Z0-9]{2,20}$/.test(wanted);
	const id = isId ? wanted : await directory.channelNamed(team, name);
	const [found] = id === null ? [] : await directory.conversations([id]);
	const mayPost = found?.team === team && (found.kind === 'public' || found.id === conversation);
	// The channel may have reserved the name without having it yet, or may have a new name by now.
	if (!mayPost || (!isId && found.name !== name)) throw new HookRejection(404, 'channel_not_found');
	return found.id;
}

async function response(path: string, request: Request, services: Services, address: string | null) {
	const pass = await redeemResponse(services, path.slice(RESPONSE_PATH.length));
	if (!pass) {
		services.anonymousLimits.failed(address);
		throw new HookRejection(404, 'expired_url');
	}
	limit(services, pass.app);
	const app = await services.apps.app(pass.app);
	if (!app) throw new HookRejection(404, 'expired_url');
	await respond(services, app, pass, parseAppMessage(await payloadOf(request)));
}

function limit({ limits }: Services, holder: string): void {
	const wait = limits.take(holder, 'posts');
	if (wait > 0) throw new Rejection('ratelimited', undefined, wait);
}

/** Accepts JSON with any content type, or a form with the JSON in `payload`. */
async function payloadOf(request: Request): Promise<JsonObject> {
	const body = (await textOf(request)).trim();
	const json = body.startsWith('{') ? body : String(formOf(body).get('payload') ?? '');
	const payload = parseJsonObject(json);
	if (!payload) throw new HookRejection(400, 'invalid_payload');
	return payload;
}

async function textOf(request: Request): Promise<string> {
	try {
		return await readText(request);
	} catch (error) {
		if (error instanceof Rejection && error.code === 'request_too_large')
			throw new HookRejection(413, 'payload_too_large');
		throw error;
	}
}

function formOf(body: string): RawArguments {
	try {
		return addForm(new Map(), body);
	} catch {
		return new Map();
	}
}

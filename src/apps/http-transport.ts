import type { App } from '../engine/ports/apps.ts';
import { settingsOf } from '../model/app-manifest.ts';
import { withOrigin } from '../protocol/addresses.ts';
import type { Delivery } from './feed.ts';
import { type Outgoing, RequestFailed } from './outgoing.ts';
import { eventCallback, signatureHeaders } from './payloads.ts';
import type { DeliveryOutcome, Transport } from './transport.ts';

/** The Events API over HTTP: a signed request for each event; any 2xx acknowledges it. */

const ANSWER_TIMEOUT_MS = 3_000;
const MAX_IN_FLIGHT = 20;

export function httpTransport(
	outgoing: Pick<Outgoing, 'post'>,
	nowMs: () => number,
	origin: () => string,
	timeoutMs = ANSWER_TIMEOUT_MS,
): Transport {
	return {
		isOpen: () => true,
		maxInFlight: MAX_IN_FLIGHT,
		pausesFailingApps: true,
		deliver: (app, delivery) =>
			deliver(app, delivery, outgoing, { now: nowMs(), origin: origin() }, timeoutMs),
	};
}

async function deliver(
	app: App,
	delivery: Delivery,
	outgoing: Pick<Outgoing, 'post'>,
	{ now, origin }: { readonly now: number; readonly origin: string },
	timeoutMs: number,
): Promise<DeliveryOutcome> {
	const { requestUrl } = settingsOf(JSON.parse(app.manifest));
	const body = withOrigin(origin, JSON.stringify(eventCallback(app, delivery)));
	const headers = {
		'content-type': 'application/json',
		...signatureHeaders(app.signingSecret, body, Math.floor(now / 1000)),
		...(delivery.attempts > 0
			? { 'x-slack-retry-num': String(delivery.attempts), 'x-slack-retry-reason': delivery.reason }
			: {}),
	};
	try {
		const { status, noRetry } = await outgoing.post(requestUrl, body, headers, timeoutMs);
		if (status >= 200 && status < 300) return { type: 'acknowledged' };
		const detail = `HTTP ${status}`;
		return noRetry ? { type: 'rejected', detail } : { type: 'failed', reason: 'http_error', detail };
	} catch (error) {
		if (!(error instanceof RequestFailed)) throw error;
		return { type: 'failed', reason: error.reason, detail: error.message };
	}
}

/** Sends Slack's url_verification. Null: the URL answered with the challenge; otherwise the problem. */
export async function verifyUrl(
	app: Pick<App, 'signingSecret'>,
	url: string,
	challenge: string,
	outgoing: Pick<Outgoing, 'post'>,
	nowMs: number,
): Promise<string | null> {
	const body = JSON.stringify({ token: '', challenge, type: 'url_verification' });
	const headers = {
		'content-type': 'application/json',
		...signatureHeaders(app.signingSecret, body, Math.floor(nowMs / 1000)),
	};
	try {
		const { status, text } = await outgoing.post(url, body, headers, ANSWER_TIMEOUT_MS);
		if (status !== 200) return `the URL answered with HTTP ${status}`;
		return text.includes(challenge) ? null : 'the URL did not answer with the challenge';
	} catch (error) {
		return (error as Error).message;
	}
}

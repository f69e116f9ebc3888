import { type Outgoing, RequestFailed } from '../../apps/outgoing.ts';
import { signatureHeaders } from '../../apps/payloads.ts';
import type { App, Apps } from '../../engine/ports/apps.ts';
import type { Bus, BusMessage } from '../../engine/ports/bus.ts';
import { settingsOf } from '../../model/app-manifest.ts';
import { Rejection } from '../../model/errors.ts';
import { withOrigin } from '../../protocol/addresses.ts';
import { type JsonObject, parseJsonObject } from '../../protocol/objects.ts';
import type { Envelope } from './app-socket.ts';
import type { AppSockets } from './app-sockets.ts';

/**
 * Sends an action of a user (a command, a button, a submitted view) to an app, which has 3 s to answer: over a
 * socket of the app at this or another gateway, or to the app's URL. Nothing is stored: if the app does not answer,
 * the user's request fails and the user may retry.
 */

export interface AppRequestsParts {
	readonly apps: Pick<Apps, 'gatewaysOf'>;
	readonly sockets: AppSockets;
	readonly bus: Bus;
	readonly gateway: string;
	readonly outgoing: Pick<Outgoing, 'post'>;
	/** The address at which apps reach this server by HTTP. */
	readonly origin: () => string;
	readonly nowMs: () => number;
	readonly newId: () => string;
	readonly timeoutMs?: number;
}

export type RequestKind = Envelope['type'];

const ANSWER_TIMEOUT_MS = 3_000;

export class AppRequests {
	private readonly waiting = new Map<string, (answer: string | null) => void>();

	constructor(private readonly parts: AppRequestsParts) {
		parts.bus.subscribe(`gateway:${parts.gateway}`, this.receive);
	}

	close(): void {
		this.parts.bus.unsubscribe(`gateway:${this.parts.gateway}`, this.receive);
	}

	/** Returns the app's answer; null: it acknowledged without content. Throws a Rejection if it did not answer. */
	async ask(app: App, kind: RequestKind, payload: JsonObject, url = ''): Promise<JsonObject | null> {
		const settings = settingsOf(JSON.parse(app.manifest));
		if (!settings.socketMode) return this.post(app, kind, payload, url || settings.interactivityUrl);
		const answer = this.parts.sockets.isOpen(app.id)
			? await this.sendHere(app.id, kind, payload)
			: await this.sendOverOtherGateway(app.id, kind, payload);
		if (answer === null)
			throw new Rejection('dispatch_failed', 'the app is not connected, or did not answer');
		return parseJsonObject(answer);
	}

	private get timeoutMs(): number {
		return this.parts.timeoutMs ?? ANSWER_TIMEOUT_MS;
	}

	/** Sends over a socket at this gateway. Null: not acknowledged. */
	private async sendHere(app: string, kind: RequestKind, payload: JsonObject): Promise<string | null> {
		const { sockets, nowMs } = this.parts;
		const end = nowMs() + this.timeoutMs;
		const accepts_response_payload = kind !== 'events_api';
		// A socket that closed without acknowledging did not handle the request: try another one.
		while (nowMs() < end && sockets.isOpen(app)) {
			const answer = await sockets.send(
				app,
				{ type: kind, payload, accepts_response_payload },
				end - nowMs(),
			);
			if (answer.type === 'acknowledged') return JSON.stringify(answer.payload ?? '');
			if (answer.type === 'timeout') return null;
		}
		return null;
	}

	private async sendOverOtherGateway(
		app: string,
		kind: RequestKind,
		payload: JsonObject,
	): Promise<string | null> {
		const { apps, bus, gateway, nowMs, newId } = this.parts;
		const [other] = (await apps.gatewaysOf(app, nowMs())).filter((one) => one !== gateway);
		if (other === undefined) return null;
		const request = newId();
		return new Promise((resolve) => {
			const timer = setTimeout(() => finish(null), this.timeoutMs);
			const finish = (answer: string | null): void => {
				clearTimeout(timer);
				this.waiting.delete(request);
				resolve(answer);
			};
			this.waiting.set(request, finish);
			bus.publish(`gateway:${other}`, {
				type: 'app_request',
				request,
				from: gateway,
				app,
				kind,
				payload: JSON.stringify(payload),
			});
		});
	}

	private readonly receive = (message: BusMessage): void => {
		if (message.type === 'app_answer') this.waiting.get(message.request)?.(message.answer);
		if (message.type !== 'app_request') return;
		const { request, from, app, kind, payload } = message;
		void this.sendHere(app, kind as RequestKind, JSON.parse(payload) as JsonObject).then((answer) =>
			this.parts.bus.publish(`gateway:${from}`, { type: 'app_answer', request, answer }),
		);
	};

	private async post(
		app: App,
		kind: RequestKind,
		payload: JsonObject,
		url: string,
	): Promise<JsonObject | null> {
		if (url === '')
			throw new Rejection('dispatch_failed', 'the app has neither a URL for this request nor Socket Mode');
		const { outgoing, nowMs } = this.parts;
		const body = bodyOf(kind, withAppOrigin(payload, this.parts.origin()));
		const headers = {
			'content-type': kind === 'events_api' ? 'application/json' : 'application/x-www-form-urlencoded',
			...signatureHeaders(app.signingSecret, body, Math.floor(nowMs() / 1000)),
		};
		try {
			const { status, text } = await outgoing.post(url, body, headers, this.timeoutMs);
			if (status < 200 || status >= 300)
				throw new Rejection('dispatch_failed', `the app answered with HTTP ${status}`);
			return answerOf(text);
		} catch (error) {
			if (error instanceof RequestFailed)
				throw new Rejection('dispatch_failed', 'the request to the app’s URL failed');
			throw error;
		}
	}
}

/** Rewrites links in the payload to the address at which the app reaches the server. */
const withAppOrigin = (payload: JsonObject, origin: string): JsonObject =>
	JSON.parse(withOrigin(origin, JSON.stringify(payload)));

/** An event is JSON, an interaction a form with `payload`, a command a form. */
function bodyOf(kind: RequestKind, payload: JsonObject): string {
	if (kind === 'events_api') return JSON.stringify(payload);
	if (kind === 'interactive') return `payload=${encodeURIComponent(JSON.stringify(payload))}`;
	return Object.entries(payload)
		.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
		.join('&');
}

/** A plain-text answer is the text of a message. */
function answerOf(text: string): JsonObject | null {
	if (text.trim() === '') return null;
	return text.trimStart().startsWith('{') ? parseJsonObject(text) : { text };
}

import { createHash } from 'node:crypto';
import type { Device } from '../../engine/ports/push.ts';
import type { CachedToken } from '../cached-token.ts';
import { Http2Host } from '../http2-host.ts';
import { checkReach, outcomeOfFailure, sendAll } from '../over-http2.ts';
import {
	collapseId,
	type Notification,
	type PushOutcome,
	type PushProvider,
	type Withdrawal,
} from '../provider.ts';
import { outcomeOf, reasonIn, rejectsToken } from './outcome.ts';
import { alertPayload, withdrawalPayloads } from './payload.ts';
import { type ApnsKey, providerToken } from './token.ts';

/** Apple's push service: HTTP/2 over one connection, with a provider token. */

export interface ApnsOptions extends ApnsKey {
	/** https://api.push.apple.com, or api.sandbox.push.apple.com. */
	readonly url: string;
	/** The application of devices that name none. */
	readonly topic: string;
	readonly nowMs: () => number;
}

/** How long APNs stores a notification for a device that is off. */
export const EXPIRES_AFTER_S = 24 * 60 * 60;

export class ApnsProvider implements PushProvider {
	private readonly host: Http2Host;
	private readonly token: CachedToken;

	constructor(private readonly options: ApnsOptions) {
		this.host = new Http2Host({ url: options.url });
		this.token = providerToken(options, options.nowMs);
	}

	notify(device: Device, notification: Notification): Promise<PushOutcome> {
		const collapse = collapseId(notification.message);
		return this.send(
			device,
			{
				'apns-push-type': 'alert',
				'apns-priority': '10',
				'apns-collapse-id': collapse,
				// The same for every attempt, so that APNs and its logs show one notification.
				'apns-id': uuidOf(`${device.id} ${collapse}`),
				'apns-expiration': String(Math.floor(this.options.nowMs() / 1000) + EXPIRES_AFTER_S),
			},
			alertPayload(notification),
		);
	}

	withdraw(device: Device, withdrawal: Withdrawal): Promise<PushOutcome> {
		// Type alert, because background notifications cannot set a badge; low priority, because there is nothing to
		// show.
		const headers = {
			'apns-push-type': 'alert',
			'apns-priority': '5',
			'apns-expiration': String(Math.floor(this.options.nowMs() / 1000) + EXPIRES_AFTER_S),
		};
		return sendAll(withdrawalPayloads(withdrawal), (payload) => this.send(device, headers, payload));
	}

	check(): Promise<string | null> {
		return checkReach(this.token, this.host);
	}

	close(): void {
		this.host.close();
	}

	private topicOf({ app }: Device): string {
		return app === '' ? this.options.topic : app;
	}

	private isOwnApp(device: Device): boolean {
		return this.topicOf(device) === this.options.topic;
	}

	private async send(device: Device, headers: Record<string, string>, body: string): Promise<PushOutcome> {
		try {
			const token = await this.token.get();
			const answer = await this.host.post(
				`/3/device/${encodeURIComponent(device.token)}`,
				{
					authorization: `bearer ${token}`,
					'apns-topic': this.topicOf(device),
					...headers,
				},
				body,
			);
			if (answer.status !== 200 && rejectsToken(reasonIn(answer.body))) this.token.drop();
			return outcomeOf(answer, this.options.nowMs(), this.isOwnApp(device));
		} catch (error) {
			return outcomeOfFailure(error);
		}
	}
}

/** A UUID derived from the text. */
function uuidOf(text: string): string {
	const hex = createHash('sha256').update(text).digest('hex');
	return [
		hex.slice(0, 8),
		hex.slice(8, 12),
		`4${hex.slice(13, 16)}`,
		`8${hex.slice(17, 20)}`,
		hex.slice(20, 32),
	].join('-');
}

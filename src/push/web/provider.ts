import type { Device } from '../../engine/ports/push.ts';
import { outcomeOfFailure, sendAll } from '../over-http2.ts';
import type { Notification, PushOutcome, PushProvider, Withdrawal } from '../provider.ts';
import { type AllowedHosts, isAllowed } from './allowed-hosts.ts';
import { outcomeOf } from './outcome.ts';
import { messagePayload, topicOf, withdrawalParts } from './payload.ts';
import { type PushService, PushServices } from './services.ts';
import { hostOf, type Subscription, subscriptionOf } from './subscription.ts';
import type { VapidIdentity } from './vapid.ts';

/** Web Push (RFC 8030, 8291, 8292) to the push services of browsers. */

export interface WebPushOptions extends VapidIdentity {
	/** Checked again before each send: the list may be shorter than when the browser was added. */
	readonly hosts: AllowedHosts;
	readonly nowMs: () => number;
}

const TTL_S = 24 * 60 * 60;
/** For this long after a service accepted a message, a rejection is the fault of the subscription. */
const ACCEPTED_LATELY_MS = 60_000;

export class WebPushProvider implements PushProvider {
	private readonly services: PushServices;

	constructor(private readonly options: WebPushOptions) {
		this.services = new PushServices(options, options.nowMs);
	}

	/** One unavailable push service does not affect the others. */
	endpointOf({ token }: Device): string {
		return hostOf(subscriptionOf(token));
	}

	notify(device: Device, notification: Notification): Promise<PushOutcome> {
		const headers = { urgency: 'high', topic: topicOf(notification.message) };
		return this.send(device, headers, messagePayload(notification));
	}

	async withdraw(device: Device, withdrawal: Withdrawal): Promise<PushOutcome> {
		// Safari cancels subscriptions that repeatedly receive messages without showing a notification.
		if (this.endpointOf(device).endsWith('.push.apple.com')) return { type: 'accepted' };
		return sendAll(withdrawalParts(withdrawal), ({ payload, topic }) =>
			this.send(device, { urgency: 'normal', ...(topic === null ? {} : { topic }) }, payload),
		);
	}

	/** There is no service to check before a browser subscribes, and reading the key has checked it. */
	async check(): Promise<string | null> {
		return null;
	}

	close(): void {
		this.services.close();
	}

	private async send(
		device: Device,
		headers: Readonly<Record<string, string>>,
		payload: string,
	): Promise<PushOutcome> {
		const subscription = subscriptionOf(device.token);
		const { origin, host } = new URL(subscription.endpoint);
		if (!isAllowed(host, this.options.hosts))
			return { type: 'rejected', error: `${host} is not in TIDEMARK_WEB_PUSH_HOSTS` };
		const outcome = await this.services.use(origin, async (service) => {
			try {
				return await this.post(service, subscription, headers, payload);
			} catch (error) {
				return outcomeOfFailure(error);
			}
		});
		return outcome ?? { type: 'busy', error: 'too many push services at once' };
	}

	private async post(
		service: PushService,
		{ endpoint, keys }: Subscription,
		headers: Readonly<Record<string, string>>,
		payload: string,
	): Promise<PushOutcome> {
		// Loaded with the first message: servers without subscribed browsers never need it.
		const { encrypt } = await import('web-push');
		const authorization = await service.token.get();
		const { host, pathname, search } = new URL(endpoint);
		const answer = await service.post(
			pathname + search,
			{
				authorization,
				ttl: String(TTL_S),
				'content-type': 'application/octet-stream',
				'content-encoding': 'aes128gcm',
				...headers,
			},
			new Uint8Array(encrypt(keys.p256dh, keys.auth, payload, 'aes128gcm').cipherText),
		);
		const nowMs = this.options.nowMs();
		const acceptedLately = nowMs - service.acceptedAt < ACCEPTED_LATELY_MS;
		const outcome = outcomeOf(answer, { host, acceptedLately, nowMs });
		if (outcome.type === 'accepted') service.acceptedAt = nowMs;
		// Sign again next time: the clock may have been corrected.
		if (outcome.type === 'unavailable') service.token.drop();
		return outcome;
	}
}

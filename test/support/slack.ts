import { RTMClient } from '@slack/rtm-api';
import { LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import { Awaited } from './awaited.ts';
import type { Person } from './people.ts';
import type { Frame } from './socket.ts';

/** Slack's official clients, connected to a test server. By default they log nothing. */

const nothing = (): void => undefined;

export const quiet = {
	debug: nothing,
	info: nothing,
	warn: nothing,
	error: nothing,
	setLevel: nothing,
	setName: nothing,
	getLevel: () => LogLevel.ERROR,
};

export const webClient = (url: string, { token }: Pick<Person, 'token'>, options: WebClientOptions = {}) =>
	new WebClient(token, { slackApiUrl: `${url}/api/`, logger: quiet, ...options });

/** An RTMClient that records its events. */
export class RtmListener {
	private readonly recorded = new Awaited<Frame>();

	constructor(readonly client: RTMClient) {
		client.on('slack_event', (_type: string, event: Frame) => this.recorded.add(event));
	}

	get events(): readonly Frame[] {
		return this.recorded.items;
	}

	/** The first matching event; waits for it if it has not arrived yet. */
	async received(wanted: (event: Frame) => boolean): Promise<Frame> {
		const [event] = await this.recorded.all(1, wanted, () => {
			const types = this.events.map(({ type, subtype }) => `${type} ${subtype ?? ''}`);
			return `${wanted}; received: ${types.join(', ')}`;
		});
		return event as Frame;
	}

	/** Waits for a lifecycle event of the client: `connected`, `ready`, `disconnected`. */
	lifecycleEvent(name: string): Promise<void> {
		return new Promise((resolve) => this.client.once(name, () => resolve()));
	}
}

export const rtmClient = (url: string, { token }: Pick<Person, 'token'>, options = {}): RtmListener =>
	new RtmListener(new RTMClient(token, { slackApiUrl: `${url}/api/`, logger: quiet, ...options }));

/** A client that is connected and ready to send. */
export async function readyRtmClient(url: string, person: Person, options = {}): Promise<RtmListener> {
	const listener = rtmClient(url, person, options);
	const ready = listener.lifecycleEvent('ready');
	await listener.client.start();
	await ready;
	return listener;
}

import { RTMClient } from '@slack/rtm-api';
import { LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import { Awaited } from './awaited.ts';
import type { Person } from './people.ts';
import type { Frame } from './socket.ts';

/** Slack's official clients, connected to a test server. Their log output is part of what tests expect. */

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
	private readonly heardSoFar = new Awaited<Frame>();

	constructor(readonly client: RTMClient) {
		client.on('slack_event', (_type: string, event: Frame) => this.heardSoFar.add(event));
	}

	get events(): readonly Frame[] {
		return this.heardSoFar.items;
	}

	/** The first matching event, whether it has arrived or is still to come. */
	async received(wanted: (event: Frame) => boolean): Promise<Frame> {
		const [event] = await this.heardSoFar.all(1, wanted, () => {
			const types = this.events.map(({ type, subtype }) => `${type} ${subtype ?? ''}`);
			return `${wanted}; received: ${types.join(', ')}`;
		});
		return event as Frame;
	}

	/** Waits for a lifecycle event of the client: `connected`, `ready`, `disconnected`. */
	lives(moment: string): Promise<void> {
		return new Promise((resolve) => this.client.once(moment, () => resolve()));
	}
}

export const rtmClient = (url: string, { token }: Pick<Person, 'token'>, options = {}): RtmListener =>
	new RtmListener(new RTMClient(token, { slackApiUrl: `${url}/api/`, logger: quiet, ...options }));

/** Started and ready to send. */
export async function readyRtmClient(url: string, person: Person, options = {}): Promise<RtmListener> {
	const listener = rtmClient(url, person, options);
	const ready = listener.lives('ready');
	await listener.client.start();
	await ready;
	return listener;
}

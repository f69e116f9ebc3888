import { RTMClient } from '@slack/rtm-api';
import { LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import type { Person } from './people.ts';
import type { Frame } from './socket.ts';

/** Slack's official clients, pointed at a test server. What they would print is part of what tests expect. */

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

const PATIENCE_MS = 10_000;

/** An RTMClient that keeps what it heard. */
export class RtmListener {
	readonly events: Frame[] = [];
	private readonly listeners = new Set<() => void>();

	constructor(readonly client: RTMClient) {
		client.on('slack_event', (_type: string, event: Frame) => {
			this.events.push(event);
			for (const listener of this.listeners) listener();
		});
	}

	/** The first event that matches, whether it came already or is still to come. */
	heard(wanted: (event: Frame) => boolean): Promise<Frame> {
		return new Promise((resolve, reject) => {
			const check = () => {
				const found = this.events.find(wanted);
				if (!found) return;
				end();
				resolve(found);
			};
			const timer = setTimeout(() => {
				end();
				const types = this.events.map(({ type, subtype }) => `${type} ${subtype ?? ''}`);
				reject(new Error(`waited in vain for ${wanted}; heard: ${types.join(', ')}`));
			}, PATIENCE_MS);
			const end = () => {
				clearTimeout(timer);
				this.listeners.delete(check);
			};
			this.listeners.add(check);
			check();
		});
	}

	/** Waits for an event of the client's own life: `connected`, `ready`, `disconnected`. */
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

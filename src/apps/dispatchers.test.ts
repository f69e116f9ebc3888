import { afterEach, expect, test } from 'bun:test';
import { eventually } from '../../test/support/eventually.ts';
import { Dispatchers, type DispatchersParts } from './dispatchers.ts';
import type { Delivery } from './feed.ts';
import type { RetryRules } from './retries.ts';
import type { Transport } from './transport.ts';

/** Apps that use Socket Mode and crash on an event (the connection closes, and the app may reconnect) or do not acknowledge it. */

const MANIFEST = {
	display_information: { name: 'Harbour' },
	settings: { event_subscriptions: { bot_events: ['message.channels'] }, socket_mode_enabled: true },
};
const APP = {
	id: 'A1',
	team: 'T1',
	botUser: 'UBOT',
	manifest: JSON.stringify(MANIFEST),
	updatedTs: 1,
	eventsSinceTs: 0,
	addedEvents: {},
};
const EVENT = { id: 'Ev1', stream: 'C1', at: 1e15, event: { type: 'message' } };
const PATIENCE_MS = 10_000;

let dispatchers: Dispatchers | undefined;
afterEach(() => dispatchers?.stop());

/** The first failure drops the event. A disconnect counts as a failure only after five immediate retries. */
const NO_PATIENCE: RetryRules = { pausesMs: [0], giveUpAfterMs: 0, pauseAppAfterMs: 3_600_000 };

function scene(deliver: Transport['deliver'], isOpen: () => boolean, rules = NO_PATIENCE) {
	const givenUp: number[] = [];
	const logged: string[] = [];
	const nothing = () => undefined;
	const parts = {
		apps: {
			all: async () => ({ items: [APP], next: null }),
			lease: async () => true,
			release: async () => undefined,
			cursors: async () => new Map(),
			advance: async () => undefined,
			setTrouble: async () => undefined,
			addGivenUp: async (_: string, count: number) => void givenUp.push(count),
		},
		reader: {
			changedAmong: async () => ['C1'],
			read: async (_: unknown, _id: string, since: number) => ({
				events: since < EVENT.at ? [EVENT] : [],
				upTo: EVENT.at,
				hasMore: false,
			}),
		},
		directory: { conversationsOf: async () => ({ items: [{ id: 'C1' }], next: null }) },
		bus: { subscribe: nothing, unsubscribe: nothing, ready: async () => undefined },
		holder: 'N1',
		released: nothing,
		sockets: () => ({ isOpen, maxInFlight: 1, pausesFailingApps: false, deliver }),
		rules,
		nowMs: () => EVENT.at / 1000,
		report: (error: unknown) => logged.push(String(error)),
		log: (line: string) => logged.push(line),
	} as unknown as DispatchersParts;
	dispatchers = new Dispatchers(parts);
	return { dispatchers, givenUp, logged };
}

test('an event whose connection closes again and again is given up', async () => {
	const attempts: number[] = [];
	const deliver = async (_: unknown, delivery: Delivery) => {
		attempts.push(delivery.attempts);
		await Bun.sleep(0);
		return { type: 'disconnected' } as const;
	};
	const { dispatchers, givenUp, logged } = scene(deliver, () => true);
	dispatchers.start();
	await eventually(async () => expect(givenUp).toEqual([1]), PATIENCE_MS);
	expect(attempts).toEqual([0, 1, 2, 3, 4, 5]);
	expect(logged).toEqual([expect.stringContaining('Ev1 was dropped after 6 attempts')]);
}, 30_000);

test('attempts also count if the event closes the last connection of the app', async () => {
	const attempts: number[] = [];
	let isOpen = true;
	const deliver = async (_: unknown, delivery: Delivery) => {
		attempts.push(delivery.attempts);
		isOpen = false;
		return { type: 'disconnected' } as const;
	};
	const { dispatchers, givenUp } = scene(deliver, () => isOpen);
	dispatchers.start();
	for (let crashes = 1; crashes <= 6; crashes += 1) {
		await eventually(async () => expect(attempts).toHaveLength(crashes), PATIENCE_MS);
		dispatchers.appChanged(APP.id);
		await eventually(async () => expect(dispatchers.has(APP.id)).toBe(false), PATIENCE_MS);
		isOpen = true;
		dispatchers.appChanged(APP.id);
	}
	expect(attempts).toEqual([0, 1, 2, 3, 4, 5]);
	expect(givenUp).toEqual([1]);
}, 60_000);

test('an app with a socket is never paused, even if it acknowledges nothing for a long time', async () => {
	const attempts: number[] = [];
	const deliver = async (_: unknown, delivery: Delivery) => {
		attempts.push(delivery.attempts);
		if (attempts.length === 4) return { type: 'acknowledged' } as const;
		return { type: 'failed', reason: 'timeout', detail: 'the app did not acknowledge in time' } as const;
	};
	const rules = { pausesMs: [0], giveUpAfterMs: 3_600_000, pauseAppAfterMs: 0 };
	const { dispatchers, logged } = scene(deliver, () => true, rules);
	dispatchers.start();
	await eventually(async () => expect(attempts).toEqual([0, 1, 2, 3]), PATIENCE_MS);
	expect(logged).toEqual([]);
}, 30_000);

import { expect, test } from 'bun:test';
import { tracingChannel } from 'node:diagnostics_channel';
import './tracing-channels.ts';

test('a tracing channel knows whether it has subscribers', () => {
	const subscribed = tracingChannel('subscribed');
	const { hasSubscribers: before } = subscribed;
	const subscribers = { start: () => undefined } as unknown as Parameters<typeof subscribed.subscribe>[0];
	subscribed.subscribe(subscribers);
	const { hasSubscribers: during } = subscribed;
	subscribed.unsubscribe(subscribers);
	expect([before, during, subscribed.hasSubscribers]).toEqual([false, true, false]);
	expect(tracingChannel('other').hasSubscribers).toBe(false);
});

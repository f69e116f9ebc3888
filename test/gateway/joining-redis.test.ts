import { afterEach, describe, expect, test } from 'bun:test';
import { RedisBus } from '../../src/engine/cluster/redis/bus.ts';
import { Keys } from '../../src/engine/cluster/redis/keys.ts';
import { Connection } from '../../src/gateway/socket/connection.ts';
import { CountsPush } from '../../src/gateway/socket/counts-push.ts';
import { Hub } from '../../src/gateway/socket/hub.ts';
import { formatPosition } from '../../src/model/position.ts';
import { formatTs } from '../../src/model/ts.ts';
import { type LiveEvent, liveEvent } from '../../src/protocol/live-event.ts';
import type { ReadState } from '../../src/unread/read-state.ts';
import { eventually } from '../support/eventually.ts';
import { connectBoth, LAYOUTS, redisPlace } from '../support/redis.ts';
import { readingSocket } from './support.ts';

/** A connected user who joins gets every event from the join on, once and in order. */

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

const JOINS = 40;
const POSTS = 10;

interface Posted {
	readonly channel: string;
	readonly at: number;
}

const eventOf = (one: Posted): LiveEvent =>
	liveEvent(one.channel, `message ${one.at}`, one.at, {
		type: 'message',
		ts: formatTs(one.at),
		...one,
		position: formatPosition(one.at),
	});

for (const layout of LAYOUTS) {
	describe(`joining on ${layout}`, () => {
		const open = async (place = redisPlace(layout)) => {
			const { commands, subscriber, close } = await connectBoth(place);
			const hooks = { onGap: () => undefined, onError: console.error };
			const bus = new RedisBus(commands, subscriber, new Keys(place.prefix), hooks);
			closing.push(() => {
				bus.close();
				close();
			});
			return { bus, place };
		};

		/** A hub with one open socket, and a worker that posts; posted messages can also be looked up. */
		const scene = async () => {
			const { bus, place } = await open();
			const worker = (await open(place)).bus;
			const posted: Posted[] = [];
			const newest = new Map<string, number>();
			const received: Posted[] = [];
			/** The other events that the socket got. */
			const otherEvents: string[] = [];
			const failures: unknown[] = [];
			/** Lookups wait for this promise. */
			const lookups = { begun: 0, until: Promise.resolve(), always: false };
			/** What else can be looked up, about the user alone. */
			const own: LiveEvent[] = [];
			const hub = new Hub(bus, new CountsPush({} as ReadState, console.error), {
				newestChange: async (_user, conversation) => {
					await Bun.sleep(1);
					return lookups.always ? null : (newest.get(conversation) ?? null);
				},
				missed: async (_user, since) => {
					const inside = posted.filter(({ at }) => at > since).map(eventOf);
					const events = [...own, ...inside];
					lookups.begun += 1;
					await Promise.all([Bun.sleep(1), lookups.until]);
					return {
						events,
						frames: events.map(({ wire }) => JSON.stringify(wire)),
						inside,
						// No cut: messages posted meanwhile have earlier stamps, and are not among the events.
						stamp: posted.at(-1)?.at ?? since,
						position: posted.at(-1)?.at ?? since,
						completeUpTo: 0,
						recount: [],
						recountThreads: false,
					};
				},
				failed: (error) => failures.push(error),
			});
			const socket = readingSocket((frame) => {
				const { type, channel, at } = JSON.parse(frame);
				return type === 'message' ? received.push({ channel, at }) : otherEvents.push(type);
			});
			const connection = new Connection('s1', 'U1', 'T1', 'hash', false, socket, hub.scheduleFlush);
			hub.listen(hub.attach(connection), []);
			await bus.ready();
			connection.release(0);
			let at = 0;
			const post = (channel: string): void => {
				at += 1;
				posted.push({ channel, at });
				newest.set(channel, at);
				const { wire, subject } = eventOf({ channel, at });
				worker.publish(`live:${channel}`, { type: 'event', frame: JSON.stringify(wire), at, subject });
			};
			const move = (type: 'joined' | 'left', conversation: string): void => {
				at += 1;
				newest.set(conversation, at);
				worker.publish('user:U1', { type, user: 'U1', conversation, at });
			};
			const settled = async (wanted: number): Promise<void> => {
				for (let tries = 0; received.length < wanted && tries < 300; tries += 1) await Bun.sleep(10);
				await Bun.sleep(50);
			};
			return { posted, received, otherEvents, failures, worker, own, post, move, settled, lookups };
		};

		test('a new member gets every event since the join once, in order', async () => {
			const { posted, received, failures, post, move, settled } = await scene();
			for (let index = 0; index < JOINS; index += 1) {
				move('joined', `C${index}`);
				for (let count = 0; count < POSTS; count += 1) {
					post(`C${index}`);
					if (count % 3 === 0) await Bun.sleep(1);
				}
			}
			await settled(posted.length);
			for (let index = 0; index < JOINS; index += 1) {
				const of = (all: readonly Posted[]) => all.filter(({ channel }) => channel === `C${index}`);
				expect(of(received)).toEqual(of(posted));
			}
			expect(failures).toEqual([]);
		});

		test('a removed user who rejoins gets nothing from in between', async () => {
			const { received, post, move, settled, lookups } = await scene();
			lookups.always = true;
			const { promise, resolve } = Promise.withResolvers<void>();
			lookups.until = promise;
			move('joined', 'C1');
			await eventually(async () => expect(lookups.begun).toBe(1), 3_000);
			move('left', 'C1');
			post('C1');
			lookups.until = Promise.withResolvers<void>().promise;
			move('joined', 'C1');
			await eventually(async () => expect(lookups.begun).toBe(2), 3_000);
			// Of the two lookups, the earlier one ends.
			resolve();
			await settled(0);
			expect(received).toEqual([]);
		});

		test('an event on the user’s own topic during the lookup wins', async () => {
			const { received, otherEvents, worker, own, post, move, settled, lookups } = await scene();
			lookups.always = true;
			const { promise, resolve } = Promise.withResolvers<void>();
			const about = { subscription: { channel: 'C1', thread_ts: formatTs(1) } };
			const following = (type: string, at: number): LiveEvent =>
				liveEvent('C1', 'follow 1', at, { type, ...about, position: formatPosition(at) });
			own.push(following('thread_subscribed', 2));
			lookups.until = promise;
			move('joined', 'C1');
			await eventually(async () => expect(lookups.begun).toBe(1), 3_000);
			const { wire, subject } = following('thread_unsubscribed', 3);
			worker.publish('user:U1', { type: 'event', frame: JSON.stringify(wire), at: 3, subject });
			resolve();
			await eventually(async () => expect(otherEvents).toEqual(['thread_unsubscribed']), 3_000);
			post('C1');
			await settled(1);
			expect(received).toHaveLength(1);
			expect(otherEvents).toEqual(['thread_unsubscribed']);
		});

		test('a user who leaves at once gets nothing more; a user who rejoins gets each event once', async () => {
			const { received, post, move, settled } = await scene();
			for (const change of ['joined', 'left', 'joined'] as const) move(change, 'C1');
			move('joined', 'C2');
			move('left', 'C2');
			await settled(0);
			received.length = 0;
			for (const channel of ['C2', 'C1', 'C1']) post(channel);
			await settled(2);
			expect(received.map(({ channel }) => channel)).toEqual(['C1', 'C1']);
		});
	});
}

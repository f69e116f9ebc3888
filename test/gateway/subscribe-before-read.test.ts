import { afterEach, expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import { MemoryTickets } from '../../src/engine/embedded/memory-tickets.ts';
import type { Bus, Topic } from '../../src/engine/ports/bus.ts';
import { ANY_ORIGIN } from '../../src/protocol/addresses.ts';
import { liveEvent } from '../../src/protocol/live-event.ts';
import type { SyncResult } from '../../src/unread/sync.ts';
import { TestSocket } from '../support/socket.ts';
import { type Behind, listeningGateway, NOTHING_MISSED } from './listening-gateway.ts';
import { admissionOf, random, userNamed } from './support.ts';

/** State is read after the subscription to its changes is active, and only if something may have changed before. */

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

/** Topics whose subscription becomes active a while after it was requested. */
class SlowBus extends MemoryBus implements Bus {
	readonly received = new Set<Topic>();
	private readonly asked = new Set<Topic>();

	override subscribe(...args: Parameters<Bus['subscribe']>): void {
		this.asked.add(args[0]);
		super.subscribe(...args);
	}

	override async ready(): Promise<void> {
		const asked = [...this.asked];
		await Bun.sleep(5);
		for (const topic of asked) this.received.add(topic);
	}
}

async function scene(
	bus: MemoryBus,
	looked: (what: string) => void,
	missed = NOTHING_MISSED,
	newestChange: () => Promise<number | null> = async () => null,
	more: Pick<Behind, 'threadTotals'> = {},
) {
	const tickets = new MemoryTickets(Date.now, random);
	const gateway = listeningGateway({
		tickets,
		bus,
		memberships: async () => {
			looked('memberships');
			return [{ conversation: 'C1' }];
		},
		newestChange,
		missed: async () => {
			looked('missed');
			return missed;
		},
		...more,
	});
	closing.push(gateway.stop);
	const admission = { ...admissionOf(userNamed('U1')), origin: 'https://chat.example' };
	const socket = new TestSocket(
		`ws://127.0.0.1:${gateway.port}/rtm?ticket=${await tickets.issue(admission)}`,
	);
	await socket.seen({ type: 'hello' });
	return socket;
}

test('a socket looks up its conversations after subscribing to joins, and its missed events after subscribing to all', async () => {
	const bus = new SlowBus();
	const heardAt = new Map<string, Set<Topic>>();
	await scene(bus, (what) => heardAt.set(what, new Set(bus.received)));
	expect(heardAt.get('memberships')?.has('user:U1')).toBe(true);
	expect(heardAt.get('missed')?.has('live:C1')).toBe(true);
});

test('a new member receives later events; missed events are read only if something happened since the join', async () => {
	for (const [newest, lookups] of [
		[1, []],
		[2, ['missed']],
		[null, ['missed']],
	] as const) {
		const bus = new MemoryBus();
		const looked: string[] = [];
		const socket = await scene(
			bus,
			(what) => looked.push(what),
			NOTHING_MISSED,
			async () => newest,
		);
		bus.publish('user:U1', { type: 'joined', user: 'U1', conversation: 'C2', at: 1 });
		bus.publish('live:C2', { type: 'event', frame: '{"type":"first"}', at: 2 });
		await socket.seen({ type: 'first' });
		expect(looked).toEqual(['memberships', 'missed', ...lookups]);
	}
});

test('links in missed events of a join have the address that the client connected to', async () => {
	const bus = new MemoryBus();
	const file = { url_private: `${ANY_ORIGIN}/files-pri/T1-F1/tides.png` };
	const shared = liveEvent('C2', 'message 2', 2, { type: 'shared', files: [file] });
	const missed = { ...NOTHING_MISSED, events: [shared], inside: [shared] };
	const socket = await scene(bus, () => undefined, missed);
	bus.publish('user:U1', { type: 'joined', user: 'U1', conversation: 'C2', at: 1 });
	const [received] = (await socket.seen({ type: 'shared' })).files;
	expect(received.url_private).toBe('https://chat.example/files-pri/T1-F1/tides.png');
});

test('while joins are not complete, later events of other conversations wait, so that no position passes a held event', async () => {
	const bus = new MemoryBus();
	const looked: string[] = [];
	const newest = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
	const socket = await scene(
		bus,
		() => undefined,
		NOTHING_MISSED,
		() => (newest[looked.push('newest') - 1] as PromiseWithResolvers<number>).promise,
	);
	const types = () => socket.frames.map(({ type }) => type).filter((type) => type !== 'hello');
	for (const [index, conversation] of ['C2', 'C3'].entries())
		bus.publish('user:U1', { type: 'joined', user: 'U1', conversation, at: 1 + index });
	bus.publish('live:C2', { type: 'event', frame: '{"type":"first"}', at: 3 });
	bus.publish('live:C1', { type: 'event', frame: '{"type":"second"}', at: 4 });
	bus.publish('live:C3', { type: 'event', frame: '{"type":"third"}', at: 5 });
	newest[0]?.resolve(1);
	await Bun.sleep(20);
	bus.publish('live:C2', { type: 'event', frame: '{"type":"fourth"}', at: 6 });
	bus.publish('user:U1', { type: 'event', frame: '{"type":"fifth"}', at: 7 });
	expect(types()).toEqual([]);
	newest[1]?.resolve(2);
	await socket.seen({ type: 'fifth' });
	expect(types()).toEqual(['first', 'second', 'third', 'fourth', 'fifth']);
});

test('missed and held events are sent in the order of their stamps, so that no position passes an event that follows', async () => {
	const bus = new MemoryBus();
	const events = [2, 4].map((at) => liveEvent('C2', `message ${at}`, at, { type: `at ${at}` }));
	const missed = { ...NOTHING_MISSED, events, inside: events };
	const socket = await scene(
		bus,
		() => undefined,
		missed,
		async () => 4,
	);
	bus.publish('user:U1', { type: 'joined', user: 'U1', conversation: 'C2', at: 1 });
	for (const [index, conversation] of ['C2', 'C1', 'C2', 'C1'].entries()) {
		const at = 2 + index;
		const subject = `${conversation} message ${at}`;
		bus.publish(`live:${conversation}`, { type: 'event', frame: `{"type":"at ${at}"}`, at, subject });
	}
	await socket.seen({ type: 'at 5' });
	expect(socket.frames.map(({ type }) => type)).toEqual(['hello', 'at 2', 'at 3', 'at 4', 'at 5']);
});

test('totals of threads, which have a position too, do not pass missed events of a join', async () => {
	const bus = new MemoryBus();
	const event = liveEvent('C2', 'message 50', 50, { type: 'at 50' });
	const missed = { ...NOTHING_MISSED, events: [event], inside: [event] };
	const [counting, counted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	const newest = Promise.withResolvers<void>();
	const threads = { unread: 0, mentions: 0, badge: 0, version: { user: 1, conversations: 1 } };
	const socket = await scene(
		bus,
		() => undefined,
		missed,
		() => newest.promise.then(() => 50),
		{
			threadTotals: async () => {
				counting.resolve();
				await counted.promise;
				return { threads, position: 100 };
			},
		},
	);
	bus.publish('user:U1', {
		type: 'event',
		frame: '{"type":"followed"}',
		at: 1,
		about: { change: 'threads' },
	});
	await counting.promise;
	bus.publish('user:U1', { type: 'joined', user: 'U1', conversation: 'C2', at: 2 });
	counted.resolve();
	await Bun.sleep(20);
	newest.resolve();
	await socket.seen({ type: 'update_thread_state' });
	const types = socket.frames.map(({ type }) => type);
	expect(types).toEqual(['hello', 'followed', 'at 50', 'update_thread_state']);
});

test('a client that has to reload receives every later event', async () => {
	const tooFarBehind: SyncResult = { tooFarBehind: true, position: 100 };
	for (const bus of [new MemoryBus(), new SlowBus()]) {
		const socket = await scene(bus, () => undefined, tooFarBehind);
		await socket.seen({ type: 'resync' });
		bus.publish('user:U1', { type: 'event', frame: '{"type":"late"}', at: 50 });
		bus.publish('user:U1', { type: 'event', frame: '{"type":"later"}', at: 101 });
		await socket.seen({ type: 'later' });
		expect(socket.having({ type: 'late' })).toHaveLength(1);
	}
});

import { beforeEach, expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import type { BusMessage } from '../../src/engine/ports/bus.ts';
import {
	ListenerRegistry,
	NOT_REGISTERED,
	type RegisteredListener,
} from '../../src/gateway/socket/listener-registry.ts';

interface Listener extends RegisteredListener {
	readonly name: string;
}

const EVENT: BusMessage = { type: 'event', frame: '{}' };
const listener = (name: string): Listener => ({ name, ...NOT_REGISTERED });

let bus: MemoryBus;
let registry: ListenerRegistry<Listener>;
let received: string[];
beforeEach(() => {
	bus = new MemoryBus();
	registry = new ListenerRegistry(bus, (listeners, _message, topic) => {
		for (const { name } of listeners) received.push(`${name} of ${topic.slice('live:'.length)}`);
	});
});

/** The listeners that get an event of the conversation. */
function receivers(conversation: string): string[] {
	received = [];
	bus.publish(`live:${conversation}`, EVENT);
	return received.sort();
}

test('each listener receives the events of its own conversations', () => {
	const [ann, bob] = [listener('ann'), listener('bob')];
	registry.listen(ann, new Set(['C1', 'C2']));
	registry.listen(bob, new Set(['C2']));
	expect(receivers('C1')).toEqual(['ann of C1']);
	expect(receivers('C2')).toEqual(['ann of C2', 'bob of C2']);
	expect([registry.isListening(bob, 'C1'), registry.isListening(bob, 'C2')]).toEqual([false, true]);
});

test('a later join adds a listener, and a leave removes it', () => {
	const ann = listener('ann');
	registry.listen(ann, new Set(['C1']));
	registry.listen(ann, new Set(['C2']));
	expect([receivers('C1'), receivers('C2')]).toEqual([['ann of C1'], ['ann of C2']]);
	registry.leave(ann, 'C1');
	registry.leave(ann, 'C1');
	expect([receivers('C1'), receivers('C2')]).toEqual([[], ['ann of C2']]);
});

test('free seats are reused, and the new listener gets no events of the old one', () => {
	const everybody = Array.from({ length: 50 }, (_, index) => listener(`first ${index}`));
	for (const one of everybody) registry.listen(one, new Set(['C1', 'C2', 'C3']));
	for (const one of everybody.slice(0, 49)) registry.leaveAll(one);
	const late = listener('late');
	registry.listen(late, new Set(['C4']));
	expect(receivers('C1')).toEqual(['first 49 of C1']);
	expect(receivers('C4')).toEqual(['late of C4']);
	registry.leaveAll(everybody[49] as Listener);
	registry.listen(listener('last'), new Set(['C5']));
	expect([receivers('C1'), receivers('C4'), receivers('C5')]).toEqual([[], ['late of C4'], ['last of C5']]);
});

test('the bus subscription lasts while a conversation has a listener', () => {
	const subscribed: string[] = [];
	bus.subscribe = (topic) => void subscribed.push(`+${topic}`);
	bus.unsubscribe = (topic) => void subscribed.push(`-${topic}`);
	const [ann, bob] = [listener('ann'), listener('bob')];
	registry.listen(ann, new Set(['C1']));
	registry.listen(bob, new Set(['C1']));
	registry.leaveAll(ann);
	registry.leave(bob, 'C1');
	expect(subscribed).toEqual(['+live:C1', '-live:C1']);
});

test('more listeners and conversations than two bytes can number', () => {
	const [first, middle, last] = [listener('first'), listener('middle'), listener('last')];
	registry.listen(first, new Set(['C1']));
	const conversations = Array.from({ length: 0x10000 }, (_, index) => `C${index + 2}`);
	registry.listen(middle, new Set(conversations));
	for (let index = 0; index < 0x10000; index += 1) registry.listen(listener('idle'), new Set());
	registry.listen(last, new Set(['C1', 'C65537']));
	registry.listen(first, new Set(['C65537']));
	expect(receivers('C1')).toEqual(['first of C1', 'last of C1']);
	expect(receivers('C65537')).toEqual(['first of C65537', 'last of C65537', 'middle of C65537']);
	registry.leaveAll(middle);
	registry.leave(last, 'C65537');
	expect(receivers('C65537')).toEqual(['first of C65537']);
});

test('listeners beyond 65,536 listen to conversations that others have left', () => {
	const few = Array.from({ length: 5 }, (_, index) => listener(`early ${index}`));
	for (const one of few) registry.listen(one, new Set(['C1']));
	for (const one of few.slice(1)) registry.leave(one, 'C1');
	for (let index = 0; index < 65_536; index += 1) registry.listen(listener('other'), new Set());
	const late = listener('late');
	registry.listen(late, new Set(['C1', 'C2']));
	expect([receivers('C1'), receivers('C2')]).toEqual([['early 0 of C1', 'late of C1'], ['late of C2']]);
});

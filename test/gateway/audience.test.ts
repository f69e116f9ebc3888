import { beforeEach, expect, test } from 'bun:test';
import { MemoryBus } from '../../src/engine/embedded/memory-bus.ts';
import type { BusMessage } from '../../src/engine/ports/bus.ts';
import { Audience, NOT_SEATED, type Seated } from '../../src/gateway/socket/audience.ts';

interface Listener extends Seated {
	readonly name: string;
}

const EVENT: BusMessage = { type: 'event', frame: '{}' };
const listener = (name: string): Listener => ({ name, ...NOT_SEATED });

let bus: MemoryBus;
let audience: Audience<Listener>;
let heard: string[];
beforeEach(() => {
	bus = new MemoryBus();
	audience = new Audience(bus, (listeners, _message, topic) => {
		for (const { name } of listeners) heard.push(`${name} of ${topic.slice('live:'.length)}`);
	});
});

/** Who hears an event of the conversation. */
function hearers(conversation: string): string[] {
	heard = [];
	bus.publish(`live:${conversation}`, EVENT);
	return heard.sort();
}

test('whoever listens hears, in each conversation its own', () => {
	const [ann, bob] = [listener('ann'), listener('bob')];
	audience.listen(ann, new Set(['C1', 'C2']));
	audience.listen(bob, new Set(['C2']));
	expect(hearers('C1')).toEqual(['ann of C1']);
	expect(hearers('C2')).toEqual(['ann of C2', 'bob of C2']);
	expect([audience.isListening(bob, 'C1'), audience.isListening(bob, 'C2')]).toEqual([false, true]);
});

test('joining later adds to what was there, leaving takes one away', () => {
	const ann = listener('ann');
	audience.listen(ann, new Set(['C1']));
	audience.listen(ann, new Set(['C2']));
	expect([hearers('C1'), hearers('C2')]).toEqual([['ann of C1'], ['ann of C2']]);
	audience.leave(ann, 'C1');
	audience.leave(ann, 'C1');
	expect([hearers('C1'), hearers('C2')]).toEqual([[], ['ann of C2']]);
});

test('numbers that became free are given to others, who hear nothing of those before them', () => {
	const everybody = Array.from({ length: 50 }, (_, index) => listener(`first ${index}`));
	for (const one of everybody) audience.listen(one, new Set(['C1', 'C2', 'C3']));
	for (const one of everybody.slice(0, 49)) audience.leaveAll(one);
	const late = listener('late');
	audience.listen(late, new Set(['C4']));
	expect(hearers('C1')).toEqual(['first 49 of C1']);
	expect(hearers('C4')).toEqual(['late of C4']);
	audience.leaveAll(everybody[49] as Listener);
	audience.listen(listener('last'), new Set(['C5']));
	expect([hearers('C1'), hearers('C4'), hearers('C5')]).toEqual([[], ['late of C4'], ['last of C5']]);
});

test('the bus is subscribed to while anybody listens', () => {
	const subscribed: string[] = [];
	bus.subscribe = (topic) => void subscribed.push(`+${topic}`);
	bus.unsubscribe = (topic) => void subscribed.push(`-${topic}`);
	const [ann, bob] = [listener('ann'), listener('bob')];
	audience.listen(ann, new Set(['C1']));
	audience.listen(bob, new Set(['C1']));
	audience.leaveAll(ann);
	audience.leave(bob, 'C1');
	expect(subscribed).toEqual(['+live:C1', '-live:C1']);
});

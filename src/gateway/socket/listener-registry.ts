import type { Bus, BusMessage, Topic } from '../../engine/ports/bus.ts';

/**
 * Who here listens to which conversation. There are many pairs of the two, fifty for each user maybe, so both
 * sides know each other by number: four bytes here and four there. The bus is subscribed to a conversation
 * while anybody listens.
 */

/** Somebody who can listen. */
export interface Seated {
	/** Its number in the audience, which gives and takes it. */
	seat: number;
	/** Numbers of the rooms it listens in. */
	rooms: Uint32Array;
}

const NO_ROOMS = new Uint32Array(0);
export const NOT_SEATED = { seat: -1, rooms: NO_ROOMS } as const;

type LiveTopic = `live:${string}`;
const topicOf = (conversation: string): LiveTopic => `live:${conversation}`;

/** Those who listen to one conversation, in no order. */
class Room<Listener extends Seated> {
	private size = 0;
	private seats = new Uint32Array(4);

	constructor(
		readonly number: number,
		private readonly allListeners: Slots<Listener>,
	) {}

	get isEmpty(): boolean {
		return this.size === 0;
	}

	/** Those who are there now, as a copy: a listener may leave while it is called. */
	listeners(): Listener[] {
		const there: Listener[] = [];
		for (let index = 0; index < this.size; index += 1) {
			const listener = this.allListeners.at(this.seats[index] as number);
			if (listener) there.push(listener);
		}
		return there;
	}

	enter(seat: number): void {
		if (this.size === this.seats.length) {
			// By a quarter: what doubled would be half empty.
			const grown = new Uint32Array(this.size + Math.max(4, this.size >>> 2));
			grown.set(this.seats);
			this.seats = grown;
		}
		this.seats[this.size] = seat;
		this.size += 1;
	}

	/** The last one takes the place of the one that leaves. */
	leave(seat: number): void {
		const index = this.seats.indexOf(seat);
		if (index < 0 || index >= this.size) return;
		this.size -= 1;
		this.seats[index] = this.seats[this.size] as number;
	}
}

export class ListenerRegistry<Listener extends Seated> {
	private readonly allListeners = new Slots<Listener>();
	private readonly rooms = new Slots<{ readonly topic: LiveTopic; readonly room: Room<Listener> }>();
	private readonly byTopic = new Map<Topic, Room<Listener>>();

	constructor(
		private readonly bus: Bus,
		private readonly deliver: (listeners: readonly Listener[], message: BusMessage, topic: Topic) => void,
	) {}

	private readonly receive = (message: BusMessage, topic: Topic): void => {
		const room = this.byTopic.get(topic);
		if (room) this.deliver(room.listeners(), message, topic);
	};

	isListening(listener: Listener, conversation: string): boolean {
		const room = this.byTopic.get(topicOf(conversation));
		return room !== undefined && listener.rooms.includes(room.number);
	}

	/** To these as well, none of which it listens to yet. */
	listen(listener: Listener, conversations: ReadonlySet<string>): void {
		if (listener.seat < 0) listener.seat = this.allListeners.put(listener);
		const rooms = new Uint32Array(listener.rooms.length + conversations.size);
		rooms.set(listener.rooms);
		let next = listener.rooms.length;
		for (const conversation of conversations) {
			const room = this.roomOf(topicOf(conversation));
			room.enter(listener.seat);
			rooms[next] = room.number;
			next += 1;
		}
		listener.rooms = rooms;
	}

	leave(listener: Listener, conversation: string): void {
		const room = this.byTopic.get(topicOf(conversation));
		if (!room || !listener.rooms.includes(room.number)) return;
		listener.rooms = listener.rooms.filter((number) => number !== room.number);
		this.left(room.number, listener.seat);
	}

	/** It is gone. */
	leaveAll(listener: Listener): void {
		for (const number of listener.rooms) this.left(number, listener.seat);
		if (listener.seat >= 0) this.allListeners.free(listener.seat);
		Object.assign(listener, NOT_SEATED);
	}

	private roomOf(topic: LiveTopic): Room<Listener> {
		const known = this.byTopic.get(topic);
		if (known) return known;
		const room = new Room<Listener>(this.rooms.next, this.allListeners);
		this.rooms.put({ topic, room });
		this.byTopic.set(topic, room);
		this.bus.subscribe(topic, this.receive);
		return room;
	}

	private left(number: number, seat: number): void {
		const found = this.rooms.at(number);
		found?.room.leave(seat);
		if (!found?.room.isEmpty) return;
		this.rooms.free(number);
		this.byTopic.delete(found.topic);
		this.bus.unsubscribe(found.topic, this.receive);
	}
}

/** Numbers for things, each given again once it is free. */
class Slots<T> {
	private readonly items: (T | undefined)[] = [];
	private readonly unused: number[] = [];

	/** The number that the next one gets. */
	get next(): number {
		return this.unused.at(-1) ?? this.items.length;
	}

	at(number: number): T | undefined {
		return this.items[number];
	}

	put(item: T): number {
		const number = this.unused.pop() ?? this.items.length;
		this.items[number] = item;
		return number;
	}

	free(number: number): void {
		this.items[number] = undefined;
		this.unused.push(number);
	}
}

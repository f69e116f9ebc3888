import type { BusMessage, Topic } from '../../ports/bus.ts';

/**
 * Finds subscriber connections that silently carry nothing any more: a network that drops packets closes no connection, and
 * Redis keeps no message for later. In every round this process publishes to a topic of its own at each node, and expects
 * to receive that itself.
 *
 * A silent connection has to be found before clients move on past what it did not carry: they resume from the position that
 * other nodes gave them, less the overlap of 5 s. Rounds are counted instead of time, because a process that stalls neither
 * receives nor passes on anything meanwhile.
 */

const EVERY_MS = 700;
/** Found in 3.5 s at most. */
const MOST_UNRECEIVED = 4;
const MOST_TAGS = 5_000;

export type PulseTopic = Extract<Topic, `pulse:${string}`>;

export interface PulseParts {
	/** Those that the subscriber is connected to; none while nothing is subscribed. */
	nodes(): readonly string[];
	/** The node that a topic with this hash tag is subscribed at. */
	nodeOf(tag: string): string;
	subscribe(topic: PulseTopic, handler: (message: BusMessage) => void): void;
	unsubscribe(topic: PulseTopic, handler: (message: BusMessage) => void): void;
	/** The subscription is confirmed, and its connection was not lost since. */
	isReceiving(topic: PulseTopic): boolean;
	/** Errors are ignored: what was not published is not received either. */
	send(topic: PulseTopic, message: BusMessage): void;
	onSilent(node: string): void;
}

interface Beat {
	readonly tag: string;
	readonly topic: PulseTopic;
	readonly handler: (message: BusMessage) => void;
	/** The newest round that was received. */
	received: number;
}

export class Pulse {
	private readonly beats = new Map<string, Beat>();
	private readonly id = crypto.randomUUID();
	private readonly timer: ReturnType<typeof setInterval>;
	private round = 0;

	constructor(private readonly parts: PulseParts) {
		this.timer = setInterval(() => this.beat(), EVERY_MS);
		this.timer.unref();
	}

	stop(): void {
		clearInterval(this.timer);
	}

	private beat(): void {
		const { parts } = this;
		this.round += 1;
		const nodes = new Set(parts.nodes());
		for (const [node, { tag, topic, handler }] of this.beats) {
			if (nodes.has(node) && parts.nodeOf(tag) === node) continue;
			this.beats.delete(node);
			parts.unsubscribe(topic, handler);
		}
		for (const node of nodes) this.beatAt(node);
	}

	private beatAt(node: string): void {
		const { parts, round } = this;
		const beat = this.beats.get(node) ?? this.begin(node);
		if (!beat) return;
		if (!parts.isReceiving(beat.topic)) {
			// Counted from when it is subscribed.
			beat.received = round;
			return;
		}
		if (round - beat.received > MOST_UNRECEIVED) {
			beat.received = round;
			parts.onSilent(node);
			return;
		}
		parts.send(beat.topic, { type: 'pulse', round });
	}

	/** Undefined: the node has no slots. */
	private begin(node: string): Beat | undefined {
		for (let number = 0; number < MOST_TAGS; number += 1) {
			const tag = `${this.id}-${number}`;
			if (this.parts.nodeOf(tag) !== node) continue;
			const handler = (message: BusMessage): void => {
				if (message.type === 'pulse') beat.received = Math.max(beat.received, message.round);
			};
			const beat: Beat = { tag, topic: `pulse:${tag}`, handler, received: this.round };
			this.beats.set(node, beat);
			this.parts.subscribe(beat.topic, handler);
			return beat;
		}
		return undefined;
	}
}

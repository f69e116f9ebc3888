import type { BusMessage, Topic } from '../../ports/bus.ts';

/**
 * Detects subscriber connections that silently stopped carrying messages: a network that drops packets closes no connection,
 * and Redis stores no messages. In every round this process publishes to its own topic on each node, and expects
 * to receive the message.
 *
 * A silent connection must be detected within 5 s: events from other nodes keep advancing the positions of clients, and a client that
 * resumes gets the events of only the last 5 s before its position again. Rounds are counted instead of time, because a paused process
 * neither receives nor forwards messages.
 */

const EVERY_MS = 700;
/** Detects silence within 3.5 s. */
const MAX_UNRECEIVED = 4;
const MAX_TAGS = 5_000;

export type PulseTopic = Extract<Topic, `pulse:${string}`>;

export interface PulseParts {
	/** Nodes to check; none while nothing is subscribed. */
	nodes(): readonly string[];
	/** The node where a topic with this hash tag is subscribed. */
	nodeOf(tag: string): string;
	subscribe(topic: PulseTopic, handler: (message: BusMessage) => void): void;
	unsubscribe(topic: PulseTopic, handler: (message: BusMessage) => void): void;
	/** Whether the subscription is confirmed, and its connection was not lost since. */
	isReceiving(topic: PulseTopic): boolean;
	/** Errors are ignored: an unpublished message is not received either. */
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
			// Counting starts with the subscription.
			beat.received = round;
			return;
		}
		if (round - beat.received > MAX_UNRECEIVED) {
			beat.received = round;
			parts.onSilent(node);
			return;
		}
		parts.send(beat.topic, { type: 'pulse', round });
	}

	/** Undefined: the node has no slots. */
	private begin(node: string): Beat | undefined {
		for (let number = 0; number < MAX_TAGS; number += 1) {
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

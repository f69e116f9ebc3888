import type { Bus, BusMessage, Topic } from '../../engine/ports/bus.ts';
import { withOrigin } from '../../protocol/addresses.ts';
import type { LiveEvent } from '../../protocol/live-event.ts';
import type { Missed, SyncResult } from '../../unread/sync.ts';
import { closeAll } from './closing.ts';
import { TOO_FAR_BEHIND } from './frames.ts';
import { SentEvents } from './sent-events.ts';
import type { Held, UserSession } from './user-session.ts';

/**
 * Handles users who join a conversation while connected: events published between the join and this gateway's
 * subscription would be lost silently. So live events are held until the changes since the join are known; then missed and
 * held events are sent in the order of their stamps, without duplicates. Usually the conversation has not changed since the join, and
 * no missed events are looked up.
 *
 * The session holds the events of all its conversations meanwhile: a later event of another conversation would raise the client's position.
 * A client that then disconnects would resume after the events that it has not received.
 */

export interface JoinHooks {
	/**
	 * The stamp of the newest change of the conversation; null if the user has left it.
	 */
	newestChange(user: string, conversation: string): Promise<number | null>;
	/** The events that the user missed since this stamp: `Sync.missed`. */
	missed(user: string, since: number, wantsCounts: boolean): Promise<SyncResult>;
	failed(error: unknown): void;
}

interface LiveJoinParts extends JoinHooks {
	readonly bus: Bus;
	/** Subscribes the session from here on; false: the session has ended, the user has left, or a newer join replaced this one. */
	admit(session: UserSession, conversation: string, at: number, sent: SentEvents): boolean;
	deliver(session: UserSession, message: BusMessage, topic: Topic): void;
	/** Makes the counts of the conversation due for clients that cannot derive them. */
	recount(session: UserSession, conversation: string): void;
}

/** Limits reads of the store: a conversation may be created with many members at once. */
const MAX_LOOK_UPS = 16;

export class LiveJoins {
	/** How many joins of each session are not complete. */
	private readonly joins = new Map<UserSession, number>();
	private running = 0;
	private readonly waiting: (() => void)[] = [];

	constructor(private readonly parts: LiveJoinParts) {}

	/** `at`: the stamp of the join. */
	async join(session: UserSession, conversation: string, at: number): Promise<void> {
		const { bus, failed } = this.parts;
		const topic = `live:${conversation}` as const;
		const join = { isAdmitted: false };
		const hold = (message: BusMessage): void =>
			void session.held?.push({
				join,
				at: 'at' in message ? message.at : undefined,
				send: () => {
					if (join.isAdmitted) this.parts.deliver(session, message, topic);
				},
			});
		this.begin(session);
		bus.subscribe(topic, hold);
		try {
			await bus.ready();
			const missed = (await this.isNewest(session.user, conversation, at))
				? null
				: await this.missedSince(session, at);
			const events = !missed || 'tooFarBehind' in missed ? [] : eventsOf(missed, conversation);
			// The rest runs in one turn of the event loop, so nothing can be delivered in between.
			join.isAdmitted = this.parts.admit(session, conversation, at, new SentEvents(events, at));
			if (!join.isAdmitted) return;
			const { held = [] } = session;
			let place = 0;
			for (const event of events) {
				const position = positionOf(event);
				while (place < held.length && !isLater(held[place], position)) place += 1;
				held.splice(place, 0, { join, at: position, send: () => sendTo(session, event) });
				place += 1;
			}
			// Without missed events, this goes first: a client that has to reload learns it before any held event raises its position.
			held.splice(place, 0, {
				join,
				at: undefined,
				send: () => this.completed(session, conversation, missed),
			});
		} catch (error) {
			failed(error);
			// The missed events are unknown: make the clients reconnect and resume.
			await closeAll(session.connections);
		} finally {
			bus.unsubscribe(topic, hold);
			this.end(session);
		}
	}

	private begin(session: UserSession): void {
		session.held ??= [];
		this.joins.set(session, (this.joins.get(session) ?? 0) + 1);
	}

	private end(session: UserSession): void {
		const remaining = (this.joins.get(session) ?? 0) - 1;
		if (remaining > 0) {
			this.joins.set(session, remaining);
			return;
		}
		this.joins.delete(session);
		const { held = [] } = session;
		session.held = undefined;
		for (const { send } of held) send();
	}

	/** Whether the join is the newest change. Read after subscribing: later changes are received live. */
	private async isNewest(user: string, conversation: string, at: number): Promise<boolean> {
		const newest = await this.parts.newestChange(user, conversation);
		return newest !== null && newest <= at;
	}

	private async missedSince(session: UserSession, at: number): Promise<SyncResult> {
		if (this.running >= MAX_LOOK_UPS) await new Promise<void>((resolve) => this.waiting.push(resolve));
		this.running += 1;
		try {
			const wantsCounts = session.connections.some((connection) => connection.wantsCounts);
			return await this.parts.missed(session.user, at, wantsCounts);
		} finally {
			this.running -= 1;
			this.waiting.shift()?.();
		}
	}

	private completed(session: UserSession, conversation: string, missed: SyncResult | null): void {
		if (missed && 'tooFarBehind' in missed)
			for (const connection of session.connections) connection.send(TOO_FAR_BEHIND);
		// Counts that became due before the user was subscribed were not sent.
		if (!missed || ('recount' in missed && (missed.recount.includes(conversation) || missed.recountThreads)))
			this.parts.recount(session, conversation);
	}
}

function sendTo(session: UserSession, { wire, asOf, subject }: LiveEvent): void {
	const frame = JSON.stringify(wire);
	// With stamp and subject: a connection that is resuming may also get a newer event of the same subject.
	for (const connection of session.connections)
		connection.send(withOrigin(connection.origin, frame), asOf, subject);
}

/** The position of a client that received the event: for an edited message, `asOf` is later. */
const positionOf = ({ wire, asOf }: LiveEvent): number => Number(wire.position ?? asOf);

const isLater = (held: Held | undefined, position: number): boolean => (held?.at ?? 0) > position;

/**
 * Only events of this conversation, in the order of their positions: the user's own topic is always subscribed, and its missed events may be older
 * than delivered ones.
 */
const eventsOf = ({ inside }: Missed, conversation: string): LiveEvent[] =>
	inside.filter((event) => event.conversation === conversation).sort((a, b) => positionOf(a) - positionOf(b));

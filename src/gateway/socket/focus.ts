import type { About, Bus } from '../../engine/ports/bus.ts';
import { Rejection } from '../../model/errors.ts';
import type { Marking } from '../../unread/marking.ts';
import type { Connection } from './connection.ts';
import { FocusMarks } from './focus-marks.ts';
import { Interest } from './interest.ts';
import { type Delivered, Receipts } from './receipts.ts';

/**
 * Tracks which conversations devices show to their users. A message that arrives in such a conversation is marked
 * read once the device has confirmed it: only that message, and with the revision that the device last saw, so that
 * messages that another device marked unread stay unread. A device that does not confirm marks no messages, and the
 * heartbeat disconnects it.
 */

/** Conversations that one device may show at a time. */
const MAX_FOCUSED = 20;

export interface FocusParts {
	readonly bus: Bus;
	readonly marking: Pick<Marking, 'mark'>;
	readonly isActive: (user: string) => Promise<boolean>;
	/** Whether this gateway is subscribed to the conversation for the user. */
	readonly isListening: (user: string, conversation: string) => boolean;
	/** Runs the work after the events that are held for the user's sockets; at once if none are. */
	readonly onceSent: (user: string, work: () => void) => void;
	/** Sends a ping after everything sent so far; returns its number. */
	readonly ping: (connection: Connection) => number;
	readonly nowMs: () => number;
	/** A device without activity for this long no longer marks messages. */
	readonly idleMs: number;
	readonly failed: (error: unknown) => void;
}

export class Focus {
	private readonly watchers: Interest<`live:${string}`, Connection>;
	/** By connection: the conversations in focus, each with the revision that the device last saw. */
	private readonly focused = new Map<Connection, Map<string, number>>();
	private readonly usedAt = new Map<Connection, number>();
	private readonly receipts: Receipts;
	private readonly marks: FocusMarks;

	constructor(private readonly parts: FocusParts) {
		this.watchers = new Interest(parts.bus, (connections, message) => {
			if (message.type === 'event' && message.about) this.delivered(connections, message.about);
		});
		this.marks = new FocusMarks(parts);
		this.receipts = new Receipts({
			ping: parts.ping,
			confirmed: (connection, delivered) => this.confirmed(connection, delivered),
		});
	}

	focus(connection: Connection, conversation: string, revision: number): void {
		const revisions = this.focused.get(connection) ?? new Map<string, number>();
		if (!revisions.has(conversation)) {
			if (revisions.size === MAX_FOCUSED)
				throw new Rejection(
					'invalid_arguments',
					`a device may have at most ${MAX_FOCUSED} conversations in focus`,
				);
			this.watchers.add(`live:${conversation}`, connection);
		}
		revisions.set(conversation, revision);
		this.focused.set(connection, revisions);
		this.used(connection);
	}

	/** Unconfirmed messages stay unread: the user may have stopped looking before they arrived. */
	blur(connection: Connection, conversation: string): void {
		const revisions = this.focused.get(connection);
		if (!revisions?.delete(conversation)) return;
		this.watchers.remove(`live:${conversation}`, connection);
		this.receipts.forget(connection, conversation);
		if (revisions.size === 0) this.ended(connection);
	}

	/** The device sent a frame other than a ping. */
	used(connection: Connection): void {
		if (this.focused.has(connection)) this.usedAt.set(connection, this.parts.nowMs());
	}

	/** The device answered the ping with this number. */
	ponged(connection: Connection, ping: number): void {
		this.receipts.ponged(connection, ping);
	}

	/** Called when the connection closed, or has no conversation in focus any more. */
	ended(connection: Connection): void {
		for (const conversation of this.focused.get(connection)?.keys() ?? [])
			this.watchers.remove(`live:${conversation}`, connection);
		this.focused.delete(connection);
		this.usedAt.delete(connection);
		this.receipts.ended(connection);
	}

	private delivered(connections: readonly Connection[], about: About): void {
		if (about.change !== 'posted' || !about.inTimeline) return;
		const { conversation, ts, author } = about;
		const idleSince = this.parts.nowMs() - this.parts.idleMs;
		for (const connection of connections) {
			const { user } = connection;
			if (user === author || (this.usedAt.get(connection) ?? 0) < idleSince) continue;
			this.parts.onceSent(user, () => {
				// The message is not written to the socket yet, or never will be: a pong would not confirm it.
				if (connection.isCatchingUp || connection.isClosed) return;
				if (!this.parts.isListening(user, conversation)) return;
				const revision = this.focused.get(connection)?.get(conversation);
				// The device lost the focus while the message was held.
				if (revision === undefined) return;
				this.receipts.delivered(connection, { conversation, ts, revision });
			});
		}
	}

	private confirmed({ user }: Connection, delivered: readonly Delivered[]): void {
		const groups = Map.groupBy(delivered, ({ conversation, revision }) => `${conversation} ${revision}`);
		for (const messages of groups.values()) {
			const { conversation, revision } = messages[0] as Delivered;
			this.marks.add(
				{ user, conversation, revision },
				messages.map(({ ts }) => ts),
			);
		}
	}
}

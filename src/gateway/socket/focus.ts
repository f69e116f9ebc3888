import type { About, Bus } from '../../engine/ports/bus.ts';
import { Refusal } from '../../model/errors.ts';
import type { Reads } from '../../unread/reads.ts';
import type { Connection } from './connection.ts';
import { Interest } from './interest.ts';

/**
 * What devices have before their user's eyes. A message that is delivered into focus is marked read for that
 * device, that message alone, and carrying the revision that the device last saw: what another device marked
 * unread in the meantime stays unread.
 */

/** Panes that one device may show at once. */
const MAX_FOCUSED = 20;

export interface FocusParts {
	readonly bus: Bus;
	readonly reads: Reads;
	readonly isActive: (user: string) => Promise<boolean>;
	readonly nowMs: () => number;
	/** A device that did nothing for so long is not looked at. */
	readonly idleMs: number;
	readonly failed: (error: unknown) => void;
}

export class Focus {
	private readonly watchers: Interest<`live:${string}`, Connection>;
	/** By connection: conversation to the revision last seen there. */
	private readonly focused = new Map<Connection, Map<string, number>>();
	private readonly usedAt = new Map<Connection, number>();

	constructor(private readonly parts: FocusParts) {
		this.watchers = new Interest(parts.bus, (connections, message) => {
			if (message.type === 'event' && message.about) this.delivered(connections, message.about);
		});
	}

	focus(connection: Connection, conversation: string, revision: number): void {
		const panes = this.focused.get(connection) ?? new Map<string, number>();
		if (!panes.has(conversation)) {
			if (panes.size === MAX_FOCUSED)
				throw new Refusal('invalid_arguments', `at most ${MAX_FOCUSED} in focus`);
			this.watchers.add(`live:${conversation}`, connection);
		}
		panes.set(conversation, revision);
		this.focused.set(connection, panes);
		this.used(connection);
	}

	blur(connection: Connection, conversation: string): void {
		const panes = this.focused.get(connection);
		if (!panes?.delete(conversation)) return;
		this.watchers.remove(`live:${conversation}`, connection);
		if (panes.size === 0) this.ended(connection);
	}

	/** Its user did something on this device. */
	used(connection: Connection): void {
		if (this.focused.has(connection)) this.usedAt.set(connection, this.parts.nowMs());
	}

	/** Focus ends with the connection. */
	ended(connection: Connection): void {
		for (const conversation of this.focused.get(connection)?.keys() ?? [])
			this.watchers.remove(`live:${conversation}`, connection);
		this.focused.delete(connection);
		this.usedAt.delete(connection);
	}

	private delivered(connections: readonly Connection[], about: About): void {
		if (about.change !== 'posted' || !about.inTimeline) return;
		const idleSince = this.parts.nowMs() - this.parts.idleMs;
		for (const connection of connections) {
			if (connection.user === about.author || (this.usedAt.get(connection) ?? 0) < idleSince) continue;
			const revision = this.focused.get(connection)?.get(about.conversation);
			this.read(connection.user, about.conversation, about.ts, revision).catch(this.parts.failed);
		}
	}

	private async read(
		user: string,
		conversation: string,
		ts: number,
		revision: number | undefined,
	): Promise<void> {
		if (!(await this.parts.isActive(user))) return;
		try {
			await this.parts.reads.mark(user, conversation, { type: 'message', ts, revision });
		} catch (error) {
			// It was deleted, or the user left, between delivery and mark.
			if (!(error instanceof Refusal)) throw error;
		}
	}
}

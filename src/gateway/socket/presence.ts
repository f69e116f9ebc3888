import type { Bus } from '../../engine/ports/bus.ts';
import type { PresenceStore } from '../../engine/ports/presence.ts';
import type { Marking } from '../../unread/marking.ts';
import type { Connection } from './connection.ts';
import { Interest } from './interest.ts';

/** Sends presence only to clients that subscribed to it: presence is the most frequent event. */

export const MAX_WATCHED = 500;
/** Bounds the loop in `storeCurrent`: a user whose presence keeps changing is refreshed again with the next change. */
const MAX_READS = 10;

export class Presence {
	private readonly watchers: Interest<`presence:${string}`, Connection>;
	private readonly watched = new Map<Connection, readonly string[]>();
	/** Users whose last refresh failed: the presence store has their change, and reports it only once. */
	private readonly unsettled = new Set<string>();

	constructor(
		private readonly bus: Bus,
		private readonly store: PresenceStore,
		private readonly marking: Pick<Marking, 'setActive'>,
	) {
		this.watchers = new Interest(bus, (connections, message) => {
			if (message.type === 'event') for (const connection of connections) connection.send(message.frame);
		});
	}

	async connected(connection: Connection): Promise<void> {
		await this.changed(connection.user, await this.store.connected(connection.user, connection.id));
	}

	async disconnected(connection: Connection): Promise<void> {
		const { user, id } = connection;
		this.watch(connection, []);
		const changed = await this.store.disconnected(user, id);
		// If the store had already lost the connection, it reports no change, although the read state has the user as active.
		await this.changed(user, changed || !(await this.store.isActive(user)));
	}

	async setAway(user: string, away: boolean): Promise<boolean> {
		const changed = await this.store.setAway(user, away);
		await this.changed(user, changed);
		const frame = JSON.stringify({ type: 'manual_presence_change', presence: away ? 'away' : 'active' });
		this.bus.publish(`user:${user}`, { type: 'event', frame });
		return changed;
	}

	private async changed(user: string, changed: boolean): Promise<void> {
		if (changed || this.unsettled.has(user)) await this.refresh(user);
	}

	/** Repeats refreshes that failed. */
	async settle(): Promise<void> {
		for (const user of [...this.unsettled]) await this.refresh(user);
	}

	/**
	 * Reads the user's presence, stores and publishes it. If two gateways do so concurrently, the one that read first
	 * may write last: so each reads again until the stored value is current.
	 */
	async refresh(user: string): Promise<void> {
		this.unsettled.delete(user);
		try {
			const active = await this.storeCurrent(user);
			this.bus.publish(`presence:${user}`, { type: 'event', frame: presenceFrame(user, active) });
		} catch (error) {
			this.unsettled.add(user);
			throw error;
		}
	}

	private async storeCurrent(user: string): Promise<boolean> {
		let active = await this.store.isActive(user);
		for (let reads = 0; reads < MAX_READS; reads += 1) {
			await this.marking.setActive(user, active);
			const isNow = await this.store.isActive(user);
			if (isNow === active) break;
			active = isNow;
		}
		return active;
	}

	/** Replaces the users that the connection watches, and sends their current presence. */
	async watch(connection: Connection, users: readonly string[]): Promise<void> {
		for (const user of this.watched.get(connection) ?? [])
			this.watchers.remove(`presence:${user}`, connection);
		// The connection may have closed during the look-up of the users.
		if (users.length === 0 || connection.isClosed) {
			this.watched.delete(connection);
			return;
		}
		this.watched.set(connection, users);
		for (const user of users) this.watchers.add(`presence:${user}`, connection);
		// Subscribe before reading: a change in between is sent twice rather than never.
		await this.bus.ready();
		await this.sendPresence(connection, users);
	}

	async sendPresence(connection: Connection, users: readonly string[]): Promise<void> {
		const active = await this.store.activeAmong(users);
		for (const user of users) connection.send(presenceFrame(user, active.has(user)));
	}
}

/** Clients that requested batches read `users`; each batch has one user. */
const presenceFrame = (user: string, active: boolean): string =>
	JSON.stringify({ type: 'presence_change', user, users: [user], presence: active ? 'active' : 'away' });

import type { ChangePageStart, WorkspaceChanges } from '../engine/ports/workspace-changes.ts';
import type { AppEvent, EventSubscriber } from './app-events.ts';
import { channelEvent, userEvent, wantsWorkspace } from './workspace-events.ts';

/**
 * Reads an app's events of its workspace. Rows may be persisted late, so every check reads the last twenty minutes
 * again, and every ten minutes everything that an app may still receive; the app's cursors show which events are new.
 */

export interface WorkspaceQuery {
	readonly team: string;
	/** Changes up to this stamp are not delivered. */
	readonly oldest: number;
	/** Maximum number of events. */
	readonly maxEvents: number;
	/** The stamp up to which a stream was read. */
	readonly readUpTo: (stream: string) => number;
}

const PAGE = 500;
const LATE_MICROS = 600 * 1e6;

export class WorkspaceReader {
	/** When everything was last read, in micros; 0: not yet. */
	private fullReadAt = 0;

	constructor(
		private readonly changes: WorkspaceChanges,
		private readonly subscriber: EventSubscriber,
		private readonly nowMs: () => number,
	) {}

	/** `hasMore`: further events did not fit. */
	async read(
		query: WorkspaceQuery,
	): Promise<{ readonly events: readonly AppEvent[]; readonly hasMore: boolean }> {
		if (!wantsWorkspace(this.subscriber)) return { events: [], hasMore: false };
		const now = this.nowMs() * 1000;
		const isFullRead = now - this.fullReadAt >= LATE_MICROS;
		const from = isFullRead ? query.oldest : Math.max(query.oldest, now - 2 * LATE_MICROS);
		const events: AppEvent[] = [];
		const { changes, subscriber } = this;
		const hasMore =
			(await this.collect(events, query, from, (after) =>
				this.channels(changes, query.team, after, subscriber),
			)) ||
			(await this.collect(events, query, from, (after) =>
				this.users(changes, query.team, after, subscriber),
			));
		if (isFullRead && !hasMore) this.fullReadAt = now;
		return { events, hasMore };
	}

	private async channels(
		changes: WorkspaceChanges,
		team: string,
		after: ChangePageStart,
		subscriber: EventSubscriber,
	) {
		if (!subscriber.names.has('channel_created')) return [];
		return (await changes.channels(team, after, PAGE)).map((channel) => ({
			place: [channel.createdTs, channel.id] as const,
			event: channelEvent(channel, subscriber),
		}));
	}

	private async users(
		changes: WorkspaceChanges,
		team: string,
		after: ChangePageStart,
		subscriber: EventSubscriber,
	) {
		if (!subscriber.names.has('team_join') && !subscriber.names.has('user_change')) return [];
		return (await changes.users(team, after, PAGE)).map((change) => ({
			place: [change.user.updatedTs, change.user.id] as const,
			event: userEvent(change, subscriber),
		}));
	}

	/** Returns whether it stopped because further events did not fit. */
	private async collect(
		events: AppEvent[],
		{ maxEvents, readUpTo }: WorkspaceQuery,
		from: number,
		next: (after: ChangePageStart) => Promise<readonly { place: ChangePageStart; event: AppEvent | null }[]>,
	): Promise<boolean> {
		for (let after: ChangePageStart = [from + 1, '']; ; ) {
			const page = await next(after);
			for (const { event } of page) {
				if (!event || readUpTo(event.stream) >= event.at) continue;
				if (events.length >= maxEvents) return true;
				events.push(event);
			}
			const last = page.at(-1);
			if (!last || page.length < PAGE) return false;
			after = last.place;
		}
	}
}

import { parseMentions } from '../../../src/model/mentions.ts';

/**
 * The counts of a client's user, computed from a snapshot and every event since. The law: they always equal a fresh
 * snapshot.
 */

export interface LiveRow {
	id: string;
	last_read: string;
	latest: string;
	revision: number;
	unread_count: number;
	mention_count: number;
	badge_count: number;
	is_muted: boolean;
	/** Stamps of the conversation and of the user's read state, 16 digits each. */
	position: string;
}

export interface LiveThreads {
	unread_count: number;
	mention_count: number;
	badge_count: number;
	version: string;
}

// biome-ignore lint/suspicious/noExplicitAny: events are read as a client reads them
export type Event = { readonly type: string; readonly [field: string]: any };

const STAMP_DIGITS = 16;
const rowOf = (wire: Event | LiveRow): LiveRow => ({
	id: (wire as Event).channel ?? wire.id,
	last_read: wire.last_read,
	latest: (wire as Event).latest_ts ?? wire.latest,
	revision: wire.revision,
	unread_count: wire.unread_count,
	mention_count: wire.mention_count,
	badge_count: wire.badge_count,
	is_muted: wire.is_muted,
	position: wire.position,
});

/** Events that carry the whole row of a conversation. */
const WHOLE_ROW = new Set([
	'channel_marked',
	'group_marked',
	'mpim_marked',
	'im_marked',
	'unread_counts_updated',
	'conversation_preference_changed',
]);
/** Events after which a conversation no longer counts. */
const REMOVED = new Set(['channel_left', 'group_left', 'channel_archive', 'group_archive']);
/** Events after which a conversation counts. */
const ADDED = new Set([
	'channel_joined',
	'group_joined',
	'mpim_joined',
	'im_created',
	'channel_unarchive',
	'group_unarchive',
]);

export class LiveCounts {
	readonly rows = new Map<string, LiveRow>();
	/** For conversations that count: the position of the last row, and the messages since. */
	private readonly tracked = new Map<string, { readonly position: string; readonly since: Event[] }>();
	threads: LiveThreads = { unread_count: 0, mention_count: 0, badge_count: 0, version: '' };

	constructor(private readonly user: string) {}

	// biome-ignore lint/suspicious/noExplicitAny: the answer of client.counts
	snapshot(counts: any): void {
		this.rows.clear();
		this.tracked.clear();
		for (const row of [...counts.channels, ...counts.mpims, ...counts.ims]) {
			this.track(row.id, '');
			this.replace(rowOf(row));
		}
		this.threads = { ...counts.threads };
	}

	get badge(): number {
		let badge = this.threads.badge_count;
		for (const row of this.rows.values()) badge += row.badge_count;
		return badge;
	}

	apply(event: Event): void {
		if (WHOLE_ROW.has(event.type)) this.replace(rowOf(event));
		else if (REMOVED.has(event.type)) this.drop(event.channel);
		else if (ADDED.has(event.type)) this.track(event.channel.id ?? event.channel, event.position);
		else if (event.type === 'update_thread_state') this.threadState(event);
		else if (event.type === 'message' && event.prev_ts !== undefined) this.posted(event);
	}

	/** Counts the conversation from this stamp on; its row follows. Idempotent. */
	private track(channel: string, stamp: string): void {
		const tracked = this.tracked.get(channel);
		if (tracked && tracked.position.slice(0, STAMP_DIGITS) >= stamp) return;
		this.tracked.set(channel, { position: stamp.padEnd(2 * STAMP_DIGITS, '0'), since: [] });
	}

	/**
	 * An older row never overwrites a newer one, and a row of a left conversation is older than the leave. A row may be
	 * older than messages that have arrived: these are counted on top of it again.
	 */
	private replace(row: LiveRow): void {
		const tracked = this.tracked.get(row.id);
		if (!tracked || row.position < tracked.position) return;
		const since = tracked.since.filter((event) => event.position > row.position.slice(0, STAMP_DIGITS));
		this.tracked.set(row.id, { position: row.position, since });
		this.rows.set(row.id, row);
		for (const event of since) this.count(row, event);
	}

	private drop(channel: string): void {
		this.rows.delete(channel);
		this.tracked.delete(channel);
	}

	private threadState(event: Event): void {
		const [known, received] = [this.threads.version, event.version].map((version) => [
			version.slice(0, STAMP_DIGITS),
			version.slice(STAMP_DIGITS),
		]) as [string[], string[]];
		// Older in one part and not newer in the other.
		const isOlder = received.every((part, index) => part <= (known[index] ?? ''));
		if (isOlder && event.version !== this.threads.version) return;
		const { unread_count, mention_count, badge_count, version } = event as unknown as LiveThreads;
		this.threads = { unread_count, mention_count, badge_count, version };
	}

	private posted(event: Event): void {
		const row = this.rows.get(event.channel);
		const tracked = this.tracked.get(event.channel);
		// The row already includes the message.
		if (!tracked || event.position <= tracked.position.slice(0, STAMP_DIGITS)) return;
		// A resuming client may get events again that it has already received.
		if (tracked.since.some(({ ts }) => ts === event.ts)) return;
		tracked.since.push(event);
		if (row) this.count(row, event);
	}

	/** A message in the timeline; its content determines how the counts change. */
	private count(row: LiveRow, event: Event): void {
		row.latest = event.ts;
		if (event.user === this.user) {
			if (row.unread_count === 0) row.last_read = event.ts;
			return;
		}
		const mentions = parseMentions(event.text);
		const named = mentions.users.includes(this.user);
		const direct = event.channel_type === 'im' || event.channel_type === 'mpim';
		const mentioned = direct || named || mentions.channelWide;
		row.unread_count += 1;
		if (mentioned) row.mention_count += 1;
		if (row.is_muted ? named : mentioned) row.badge_count += 1;
	}
}

import { parseMentions } from '../../../src/model/mentions.ts';

/**
 * What a client knows of its user's counts: a snapshot, and every event since. The law that the server has to
 * keep is that this is a fresh snapshot, at any moment.
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
	position: string;
}

// biome-ignore lint/suspicious/noExplicitAny: events are read as a client reads them
export type Event = { readonly type: string; readonly [field: string]: any };

const STAMP_DIGITS = 16;
const rowOf = (wire: Event | LiveRow): LiveRow => ({
	id: (wire as Event).channel ?? wire.id,
	last_read: wire.last_read,
	latest: wire.latest,
	revision: wire.revision,
	unread_count: wire.unread_count,
	mention_count: wire.mention_count,
	badge_count: wire.badge_count,
	is_muted: wire.is_muted,
	position: wire.position,
});

const ABSOLUTE = new Set([
	'channel_marked',
	'group_marked',
	'mpim_marked',
	'im_marked',
	'unread_counts_updated',
	'conversation_preference_changed',
]);
const GONE = new Set(['channel_left', 'group_left', 'channel_archive', 'group_archive']);

export class LiveCounts {
	readonly rows = new Map<string, LiveRow>();
	threads: LiveThreads = { unread_count: 0, mention_count: 0, badge_count: 0, position: '' };

	constructor(private readonly user: string) {}

	// biome-ignore lint/suspicious/noExplicitAny: the answer of client.counts
	snapshot(counts: any): void {
		this.rows.clear();
		for (const row of [...counts.channels, ...counts.mpims, ...counts.ims]) this.rows.set(row.id, rowOf(row));
		this.threads = { ...counts.threads, position: counts.position };
	}

	get badge(): number {
		let badge = this.threads.badge_count;
		for (const row of this.rows.values()) badge += row.badge_count;
		return badge;
	}

	apply(event: Event): void {
		if (ABSOLUTE.has(event.type)) this.replace(rowOf(event));
		else if (GONE.has(event.type)) this.rows.delete(event.channel);
		else if (event.type === 'update_thread_state') this.threadState(event);
		else if (event.type === 'message' && event.prev_ts !== undefined) this.posted(event);
	}

	/** An older one never overwrites a newer one. */
	private replace(row: LiveRow): void {
		const known = this.rows.get(row.id);
		if (!known || row.position >= known.position) this.rows.set(row.id, row);
	}

	private threadState(event: Event): void {
		if (event.position < this.threads.position) return;
		const { unread_count, mention_count, badge_count, position } = event as unknown as LiveThreads;
		this.threads = { unread_count, mention_count, badge_count, position };
	}

	/** A message in the timeline: what it does to the counts follows from what it says. */
	private posted(event: Event): void {
		const row = this.rows.get(event.channel);
		if (!row) return;
		const [conversation, mine] = [row.position.slice(0, STAMP_DIGITS), row.position.slice(STAMP_DIGITS)];
		// The row knows of it already.
		if (event.position <= conversation) return;
		row.latest = event.ts;
		row.position = event.position + mine;
		if (event.user === this.user) {
			if (row.unread_count > 0) return;
			row.last_read = event.ts;
			row.position = event.position + event.position;
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

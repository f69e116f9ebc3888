import type { AppCursor } from '../engine/ports/apps.ts';
import type { AppEvent } from './app-events.ts';

/**
 * How far an app has taken its events: for each conversation, up to which stamp they were read from the store, and which of
 * them are not acknowledged. The cursor, which is all that is stored, stands before the oldest of those. Pure state: who
 * delivers what and when is dispatcher.ts.
 */

export interface Delivery extends AppEvent {
	/** Tries so far. */
	attempts: number;
	/** When it was first tried, ms; 0: it was not. */
	firstAt: number;
	/** When it is due, ms. */
	dueAt: number;
	/** Why the last try failed, in the words of Slack's X-Slack-Retry-Reason. */
	reason: string;
	underWay: boolean;
}

interface FeedProgress {
	/** Read from the store up to here. */
	read: number;
	/** Stored as the cursor. */
	saved: number;
	/** Not acknowledged, by stamp. */
	open: Delivery[];
}

export class Feed {
	private readonly progress = new Map<string, FeedProgress>();
	private waiting = 0;

	/** Cursors as they are stored. */
	constructor(cursors: ReadonlyMap<string, number>) {
		for (const [conversation, cursor] of cursors)
			this.progress.set(conversation, { read: cursor, saved: cursor, open: [] });
	}

	/** Events that were read and not acknowledged. */
	get size(): number {
		return this.waiting;
	}

	readUpTo(conversation: string): number {
		return this.progress.get(conversation)?.read ?? 0;
	}

	/** Takes in what was read. */
	add(conversation: string, events: readonly AppEvent[], upTo: number): void {
		const place = this.progress.get(conversation) ?? { read: 0, saved: 0, open: [] };
		this.progress.set(conversation, place);
		for (const event of events) {
			if (event.at <= place.read) continue;
			place.open.push({ ...event, attempts: 0, firstAt: 0, dueAt: 0, reason: '', underWay: false });
			this.waiting += 1;
		}
		place.read = Math.max(place.read, upTo);
	}

	/** What is due at this moment, at most so many; the oldest of each conversation first. */
	due(now: number, most: number): Delivery[] {
		const found: Delivery[] = [];
		for (const { open } of this.progress.values())
			for (const delivery of open) {
				if (delivery.underWay || delivery.dueAt > now) continue;
				if (found.length >= most) return found;
				found.push(delivery);
			}
		return found;
	}

	/** When the next one is due that waits for its time; infinite: none does. */
	nextDueAt(): number {
		let next = Number.POSITIVE_INFINITY;
		for (const { open } of this.progress.values())
			for (const { underWay, dueAt } of open) if (!underWay && dueAt < next) next = dueAt;
		return next;
	}

	/** Acknowledged, or given up: it is not delivered again. */
	settle(delivery: Delivery): void {
		const open = this.progress.get(delivery.conversation)?.open;
		const index = open?.indexOf(delivery) ?? -1;
		if (!open || index < 0) return;
		open.splice(index, 1);
		this.waiting -= 1;
	}

	/** Cursors that rose since they were stored. */
	unsaved(): AppCursor[] {
		const risen: AppCursor[] = [];
		for (const [conversation, place] of this.progress) {
			const cursor = cursorOf(place);
			if (cursor > place.saved) risen.push([conversation, cursor]);
		}
		return risen;
	}

	saved(cursors: readonly AppCursor[]): void {
		for (const [conversation, cursor] of cursors) {
			const place = this.progress.get(conversation);
			if (place) place.saved = Math.max(place.saved, cursor);
		}
	}
}

/** Before the oldest that is open: several may have the same stamp. */
const cursorOf = ({ open, read }: FeedProgress): number =>
	open.reduce((lowest, { at }) => Math.min(lowest, at - 1), read);

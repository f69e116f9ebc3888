import type { AppCursor } from '../engine/ports/apps.ts';
import type { AppEvent } from './app-events.ts';

/**
 * An app's progress: for each stream of events (`AppEvent.stream`), up to which stamp it was read from the store, and
 * which events are unacknowledged. Only the cursor is stored; it is before the oldest unacknowledged event. Pure state;
 * dispatcher.ts delivers.
 */

export interface Attempts {
	/** Attempts so far. */
	attempts: number;
	/** Time of the first attempt in ms; 0: none yet. */
	firstAt: number;
	/** When it is due, ms. */
	dueAt: number;
	/** Why the last attempt failed, as in Slack's X-Slack-Retry-Reason. */
	reason: string;
}

export interface Delivery extends AppEvent, Attempts {
	inFlight: boolean;
}

/** By the id of the event. */
export type PastAttempts = ReadonlyMap<string, Readonly<Attempts>>;

const NO_ATTEMPTS: Readonly<Attempts> = { attempts: 0, firstAt: 0, dueAt: 0, reason: '' };

interface FeedProgress {
	/** Read from the store up to here. */
	read: number;
	/** Stored as the cursor. */
	saved: number;
	/** Unacknowledged events in the order of their stamps. */
	unacknowledged: Delivery[];
}

export class Feed {
	private readonly progress = new Map<string, FeedProgress>();
	private count = 0;

	/** Starts from the stored cursors. `past`: attempts at events that an earlier feed could not deliver. */
	constructor(
		cursors: ReadonlyMap<string, number>,
		private readonly past: PastAttempts,
	) {
		for (const [stream, cursor] of cursors)
			this.progress.set(stream, { read: cursor, saved: cursor, unacknowledged: [] });
	}

	/** Number of unacknowledged events. */
	get size(): number {
		return this.count;
	}

	readUpTo(stream: string): number {
		return this.progress.get(stream)?.read ?? 0;
	}

	/** Adds events that were read from the store. */
	add(stream: string, events: readonly AppEvent[], upTo: number): void {
		const place = this.progress.get(stream) ?? { read: 0, saved: 0, unacknowledged: [] };
		this.progress.set(stream, place);
		for (const event of events) {
			if (event.at <= place.read) continue;
			place.unacknowledged.push({ ...event, ...(this.past.get(event.id) ?? NO_ATTEMPTS), inFlight: false });
			this.count += 1;
		}
		place.read = Math.max(place.read, upTo);
	}

	/** Up to `max` deliveries that are due now, the oldest of each stream first. */
	due(now: number, max: number): Delivery[] {
		const found: Delivery[] = [];
		for (const { unacknowledged } of this.progress.values())
			for (const delivery of unacknowledged) {
				if (delivery.inFlight || delivery.dueAt > now) continue;
				if (found.length >= max) return found;
				found.push(delivery);
			}
		return found;
	}

	/** When the next waiting delivery is due; infinite: none is waiting. */
	nextDueAt(): number {
		let next = Number.POSITIVE_INFINITY;
		for (const { unacknowledged } of this.progress.values())
			for (const { inFlight, dueAt } of unacknowledged) if (!inFlight && dueAt < next) next = dueAt;
		return next;
	}

	/** Called when an event was acknowledged or dropped. */
	finish(delivery: Delivery): void {
		const unacknowledged = this.progress.get(delivery.stream)?.unacknowledged;
		const index = unacknowledged?.indexOf(delivery) ?? -1;
		if (!unacknowledged || index < 0) return;
		unacknowledged.splice(index, 1);
		this.count -= 1;
	}

	/** The attempts of unacknowledged events, for the next feed of the app. */
	pastAttempts(): PastAttempts {
		const unacknowledged = [...this.progress.values()].flatMap((place) => place.unacknowledged);
		const tried = unacknowledged.filter(({ attempts }) => attempts > 0);
		return new Map(
			tried.map(({ id, attempts, firstAt, dueAt, reason }) => [id, { attempts, firstAt, dueAt, reason }]),
		);
	}

	/** Cursors that are higher than the stored ones. */
	unsaved(): AppCursor[] {
		const risen: AppCursor[] = [];
		for (const [stream, place] of this.progress) {
			const cursor = cursorOf(place);
			if (cursor > place.saved) risen.push([stream, cursor]);
		}
		return risen;
	}

	saved(cursors: readonly AppCursor[]): void {
		for (const [stream, cursor] of cursors) {
			const place = this.progress.get(stream);
			if (place) place.saved = Math.max(place.saved, cursor);
		}
	}
}

/** Before the oldest unacknowledged event, because several may have the same stamp. */
const cursorOf = ({ unacknowledged, read }: FeedProgress): number =>
	unacknowledged.reduce((lowest, { at }) => Math.min(lowest, at - 1), read);

import type { Platform } from '../platform.ts';
import type { Attention, Reader } from '../public.ts';
import { type DueMarks, dueMarks, type Stretch } from './due-marks.ts';
import { forgetRead, NOTHING_SEEN, nextSeenIn, observe, type Sightings } from './sightings.ts';

/**
 * Marks messages that the user sees: runs the rules of sightings.ts and due-marks.ts with a clock. It never undoes a
 * mark unread of this or another device: after one, it marks nothing until `resume`.
 */

/** The loaded messages and their read state. */
export interface Readable extends Stretch {
	/** The revision of a conversation; a thread has none. */
	readonly revision?: number | undefined;
	readonly hasUnreads: boolean;
}

export interface ReaderParts {
	readonly platform: Pick<Platform, 'now' | 'timers'>;
	readonly attention: Attention;
	/** Null until the conversation is loaded. */
	readonly readable: () => Readable | null;
	/** Sends the marks, and retries after a lost answer. Rejects if the server rejects them. */
	readonly mark: (due: DueMarks) => Promise<unknown>;
}

/** Messages that come into view within this time are marked together. */
const TOGETHER_MS = 200;

export class LiveReader implements Reader {
	private sightings: Sightings = NOTHING_SEEN;
	private visible: readonly string[] = [];
	private known: { readonly revision: number | undefined; readonly lastRead: string } | null = null;
	private isPaused = false;
	private requestedUpTo = '';
	private requestedSingle = new Set<string>();
	private timer: unknown;
	private readonly unsubscribe: () => void;

	constructor(private readonly parts: ReaderParts) {
		this.unsubscribe = parts.attention.subscribe(() => this.step());
		this.checkUnread(parts.readable());
	}

	onScreen = (messages: readonly string[]): void => {
		this.visible = messages;
		this.step();
	};

	resume = (): void => {
		this.known = null;
		this.isPaused = false;
		this.step();
	};

	pause = (): void => {
		this.isPaused = true;
		this.sightings = NOTHING_SEEN;
		this.forgetRequests();
	};

	stop = (): void => {
		this.unsubscribe();
		this.visible = [];
		this.parts.platform.timers.clear(this.timer);
	};

	private step(): void {
		const { platform, attention, readable } = this.parts;
		const now = platform.now();
		const current = readable();
		this.checkUnread(current);
		const isAttentive = !this.isPaused && attention.getSnapshot();
		this.sightings = observe(this.sightings, { onScreen: this.visible, isAttentive, now });
		if (current && !this.isPaused) this.mark(current);
		const next = nextSeenIn(this.sightings, now);
		platform.timers.clear(this.timer);
		if (next !== null) this.timer = platform.timers.set(() => this.step(), Math.max(next, TOGETHER_MS));
	}

	/** Pauses after a mark unread: another revision, or, for a thread, a cursor that moved back. */
	private checkUnread(current: Readable | null): void {
		if (!current) return;
		const { revision, lastRead } = current;
		const { known } = this;
		this.known = { revision: known?.revision ?? revision, lastRead };
		if (known === null || this.isPaused) return;
		const isMarkedUnread =
			revision === undefined || known.revision === undefined
				? lastRead < known.lastRead
				: revision !== known.revision;
		if (isMarkedUnread) this.pause();
	}

	private mark(current: Readable): void {
		this.sightings = forgetRead(this.sightings, current.lastRead);
		if (!current.hasUnreads) return;
		const { upTo, single } = dueMarks(this.sightings.seen, current);
		const due = {
			upTo: upTo !== null && upTo > this.requestedUpTo ? upTo : null,
			single: single.filter((ts) => !this.requestedSingle.has(ts)),
		};
		if (due.upTo === null && due.single.length === 0) return;
		this.requestedUpTo = due.upTo ?? this.requestedUpTo;
		for (const ts of due.single) this.requestedSingle.add(ts);
		this.parts.mark(due).catch(() => this.forgetRequests());
	}

	private forgetRequests(): void {
		this.requestedUpTo = '';
		this.requestedSingle = new Set();
	}
}

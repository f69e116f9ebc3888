import type { Platform } from '../platform.ts';
import type { Attention } from '../public.ts';

/**
 * Whether the window has its user's attention: it is visible, has the keyboard focus, and was used within the last
 * minute. False before the first use.
 */

export const IDLE_AFTER_MS = 60_000;
/** Activity is recorded at most this often. */
const RECORD_EVERY_MS = 1_000;

export class LiveAttention implements Attention {
	private isVisible = true;
	private hasFocus = true;
	private activeAt = Number.NEGATIVE_INFINITY;
	private wasAttentive = false;
	private timer: unknown;
	private readonly listeners = new Set<() => void>();

	constructor(private readonly platform: Pick<Platform, 'now' | 'timers'>) {}

	readonly getSnapshot = (): boolean =>
		this.isVisible && this.hasFocus && this.platform.now() - this.activeAt < IDLE_AFTER_MS;

	readonly subscribe = (listener: () => void): (() => void) => {
		this.listeners.add(listener);
		return () => void this.listeners.delete(listener);
	};

	report = ({ isVisible, hasFocus }: { isVisible?: boolean; hasFocus?: boolean }): void => {
		this.isVisible = isVisible ?? this.isVisible;
		this.hasFocus = hasFocus ?? this.hasFocus;
		this.check();
	};

	active = (): void => {
		const now = this.platform.now();
		if (this.wasAttentive && now - this.activeAt < RECORD_EVERY_MS) return;
		this.activeAt = now;
		this.check();
		if (this.timer === undefined) this.watch();
	};

	/** Clears the timer when the client disconnects. */
	stop(): void {
		this.platform.timers.clear(this.timer);
		this.timer = undefined;
	}

	private watch(): void {
		const { now, timers } = this.platform;
		const left = this.activeAt + IDLE_AFTER_MS - now();
		this.timer = left > 0 ? timers.set(() => this.watch(), left) : undefined;
		if (left <= 0) this.check();
	}

	private check(): void {
		const isAttentive = this.getSnapshot();
		if (isAttentive === this.wasAttentive) return;
		this.wasAttentive = isAttentive;
		for (const listener of this.listeners) listener();
	}
}

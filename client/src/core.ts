import type { Api } from './api.ts';
import type { CountsState } from './counts-state.ts';
import type { Focus } from './focus.ts';
import type { Marks } from './marks.ts';
import type { Notifier } from './notifier.ts';
import type { Outbox } from './outbox.ts';
import type { Platform } from './platform.ts';
import type { Attention } from './public.ts';
import type { SingleMarks } from './single-marks.ts';
import type { Typing } from './typing.ts';

/** The parts of the client that the stores of conversations and threads share. */
export interface Core {
	readonly api: Api;
	readonly platform: Platform;
	readonly notifier: Notifier;
	readonly state: CountsState;
	readonly outbox: Outbox;
	readonly marks: Marks;
	readonly singleMarks: SingleMarks;
	readonly attention: Attention;
	readonly focus: Focus;
	readonly typing: Typing;
	readonly pageSize: number;
	/**
	 * Whether the first snapshot is loaded. Stores load nothing before it; after it, every watched store loads.
	 */
	readonly isReady: () => boolean;
	readonly isOnline: () => boolean;
	/** Runs work that nobody awaits; `settled` waits for it. */
	readonly background: (work: Promise<unknown>) => void;
}

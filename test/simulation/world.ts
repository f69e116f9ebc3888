import type { Network } from './network.ts';
import type { Phones } from './phones.ts';
import type { Process, Scheduler } from './scheduler.ts';

/** What everything in one simulated history shares. */
export interface World {
	readonly scheduler: Scheduler;
	readonly network: Network;
	/** In whose name faults happen and dead processes are started again. */
	readonly chaos: Process;
	/** Null: nothing is pushed in this history. */
	readonly phones: Phones | null;
	/** Counts what was injected. */
	readonly tally: (fault: string) => void;
	/** All faults are over, and so is what they led to. */
	readonly calm: () => void;
}

export interface ActivityAt {
	readonly user: string;
	/** Microseconds. */
	readonly ts: number;
	readonly active: boolean;
}

/** An installation: which processes there are, and what can go wrong in it. */
export interface Shape {
	/** Names that requests can be sent to. */
	readonly servers: readonly string[];
	readonly processes: readonly Process[];
	start(): void;
	/** Kills a process, which is started again after a while. */
	crash(process: Process): void;
	/** Loses what is not meant to last, such as Redis. */
	forget(): void;
	/** Whether what outlives processes and Redis says that the user was active, or was not, at this time. */
	isDurable(activity: ActivityAt): boolean;
	/** Whether everything that should run does. */
	isUp(): boolean;
	/** Faults of this shape, by name; each injects itself once. */
	readonly faults: Readonly<Record<string, () => void>>;
	/** Everything that lasts ends. */
	heal(): void;
	/** What outlives processes: disks, logs, Redis. */
	save(): unknown;
	/** Before processes are started. */
	restore(saved: never): void;
	close(): void;
}

import type { Network } from './network.ts';
import type { Phones } from './phones.ts';
import type { Process, Scheduler } from './scheduler.ts';

/** The parts that everything in one simulated history shares. */
export interface World {
	readonly scheduler: Scheduler;
	readonly network: Network;
	/** The process that injects faults and restarts dead processes. */
	readonly chaos: Process;
	/** Null: this history has no push notifications. */
	readonly phones: Phones | null;
	/** Counts an injected fault. */
	readonly tally: (fault: string) => void;
	/** Called when all faults are over, and all work that they delayed is done. */
	readonly calm: () => void;
}

export interface ActivityAt {
	readonly user: string;
	/** Microseconds. */
	readonly ts: number;
	readonly active: boolean;
}

/** An installation: its processes, and the faults that can be injected into it. */
export interface Shape {
	/** Names of the processes that accept requests. */
	readonly servers: readonly string[];
	readonly processes: readonly Process[];
	start(): void;
	/** Kills a process, and starts it again after a while. */
	crash(process: Process): void;
	/** Loses the state that need not be durable: empties Redis. */
	loseVolatileState(): void;
	/** Whether the log or the store has this activity, so that it survives the death of all processes and of Redis. */
	isDurable(activity: ActivityAt): boolean;
	/** Whether all processes are up. */
	isUp(): boolean;
	/** Faults of this shape, by name; a call injects the fault once. */
	readonly faults: Readonly<Record<string, () => void>>;
	/** Ends all lasting faults. */
	heal(): void;
	/** The contents of disks, logs and Redis. */
	save(): unknown;
	/** Call it before processes are started. */
	restore(saved: never): void;
	close(): void;
}

import type { RetryHooks } from '../engine/cluster/postgres/retry.ts';
import type { Dependency, ServerOperations } from './operations.ts';

/** Reports several connections to one service together: unavailable while any of them fails. */
export class ServiceWatch {
	private readonly failing = new Set<string>();

	constructor(
		private readonly service: Dependency,
		private readonly operations: Pick<ServerOperations, 'degraded' | 'recovered'>,
	) {}

	isFailing(side: string): boolean {
		return this.failing.has(side);
	}

	lost(side: string, error: Error): void {
		this.failing.add(side);
		this.operations.degraded(this.service, error);
	}

	regained(side: string): void {
		if (this.failing.delete(side) && this.failing.size === 0) this.operations.recovered(this.service);
	}
}

type Side = 'reads' | 'writes';

/** Consecutive failures before PostgreSQL is reported as unavailable. */
const FAILURES_TO_REPORT = 3;

/** Reports PostgreSQL as unavailable when reads or writes fail several times in a row. */
export class PostgresWatch {
	private readonly sides: ServiceWatch;

	constructor(private readonly operations: Pick<ServerOperations, 'degraded' | 'recovered' | 'failedWrite'>) {
		this.sides = new ServiceWatch('postgres', operations);
	}

	isFailing(side: Side): boolean {
		return this.sides.isFailing(side);
	}

	hooksFor(side: Side): RetryHooks {
		return {
			onTrouble: (failures, error) => {
				if (side === 'writes') this.operations.failedWrite();
				if (failures >= FAILURES_TO_REPORT) this.sides.lost(side, error);
			},
			onRecovered: () => this.sides.regained(side),
			onRejected: () => {
				if (side === 'writes') this.operations.failedWrite();
			},
		};
	}
}

import type { RetryHooks } from '../engine/cluster/postgres/retry.ts';
import type { ServerOperations } from './operations.ts';
import { ServiceWatch } from './service-watch.ts';

/** Reports PostgreSQL as unavailable when reads or writes fail. */

type Side = 'reads' | 'writes';

/** Consecutive failures before PostgreSQL is reported as unavailable. */
const FAILURES_TO_REPORT = 3;

export class PostgresWatch {
	private readonly sides: ServiceWatch;

	constructor(private readonly operations: Pick<ServerOperations, 'degraded' | 'recovered' | 'failedWrite'>) {
		this.sides = new ServiceWatch('postgres', operations);
	}

	isFailing(side: Side): boolean {
		return this.sides.isFailing(side);
	}

	of(side: Side): RetryHooks {
		return {
			onTrouble: (failures, error) => {
				if (side === 'writes') this.operations.failedWrite();
				if (failures >= FAILURES_TO_REPORT) this.sides.lost(side, error);
			},
			onRecovered: () => this.sides.regained(side),
			onRejected: () => this.operations.failedWrite(),
		};
	}
}

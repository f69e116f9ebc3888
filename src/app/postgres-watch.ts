import type { Watch } from '../engine/cluster/postgres/retry.ts';
import type { ServerOperations } from './operations.ts';

/** Tells of PostgreSQL as one thing, which is read and written: it is away while either fails, and back when both do not. */

type Side = 'reads' | 'writes';

/** So many attempts in a row fail before it is called away. */
const FAILURES_TO_TELL = 3;

export class PostgresWatch {
	private readonly failing = new Set<Side>();

	constructor(private readonly operations: Pick<ServerOperations, 'degraded' | 'recovered'>) {}

	isFailing(side: Side): boolean {
		return this.failing.has(side);
	}

	of(side: Side): Watch {
		return {
			onTrouble: (failures, error) => {
				if (failures < FAILURES_TO_TELL) return;
				this.failing.add(side);
				this.operations.degraded('postgres', error);
			},
			onRecovered: () => {
				this.failing.delete(side);
				if (this.failing.size === 0) this.operations.recovered('postgres');
			},
		};
	}
}

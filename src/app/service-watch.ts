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

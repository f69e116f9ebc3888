/**
 * Which faults were injected, and which paths the program took under each of them. A path has a name: a method with its outcome, a
 * script of Redis, an event, the way a connection ended. A fault under which few paths are reached proves little.
 */

/** One history, by fault: how often the fault was injected, and the paths that were reached after it, in the same round. */
export type Covered = Readonly<
	Record<string, { readonly injected: number; readonly paths: readonly string[] }>
>;

const NO_FAULT = '(no fault)';

export class Coverage {
	private readonly injected = new Map<string, number>();
	private readonly paths = new Map<string, Set<string>>();
	private active = new Set<string>();

	inject(fault: string): void {
		this.active.add(fault);
		this.injected.set(fault, (this.injected.get(fault) ?? 0) + 1);
	}

	reached(path: string): void {
		if (this.active.size === 0) this.add(NO_FAULT, path);
		else for (const fault of this.active) this.add(fault, path);
	}

	/** All faults are over, and all work that they delayed is done. */
	calm(): void {
		this.active = new Set();
	}

	get covered(): Covered {
		const faults = new Set([...this.injected.keys(), ...this.paths.keys()]);
		return Object.fromEntries(
			[...faults].map((fault) => [
				fault,
				{ injected: this.injected.get(fault) ?? 0, paths: [...(this.paths.get(fault) ?? [])] },
			]),
		);
	}

	private add(fault: string, path: string): void {
		let paths = this.paths.get(fault);
		if (!paths) {
			paths = new Set();
			this.paths.set(fault, paths);
		}
		paths.add(path);
	}
}

interface Total {
	injected: number;
	histories: number;
	readonly paths: Map<string, number>;
}

/** Sums the coverage of many histories, by shape and fault. */
export class CoverageReport {
	private readonly totals = new Map<string, Total>();

	add(shape: string, covered: Covered): void {
		for (const [fault, { injected, paths }] of Object.entries(covered)) {
			const key = `${shape}: ${fault}`;
			const total = this.totals.get(key) ?? { injected: 0, histories: 0, paths: new Map<string, number>() };
			this.totals.set(key, total);
			total.injected += injected;
			total.histories += 1;
			for (const path of paths) total.paths.set(path, (total.paths.get(path) ?? 0) + 1);
		}
	}

	/** A line for each fault; with `all`, every path with the number of histories that reached it under the fault. */
	lines(all: boolean): string[] {
		return [...this.totals]
			.sort(([a], [b]) => (a < b ? -1 : 1))
			.flatMap(([key, { injected, histories, paths }]) => {
				const errors = [...paths.keys()].filter((path) => ERROR.test(path)).length;
				const head =
					`${String(injected).padStart(8)} times in ${String(histories).padStart(6)} histories  ` +
					`${String(paths.size).padStart(4)} paths (${errors} of them errors)  ${key}`;
				if (!all) return [head];
				const sorted = [...paths].sort(([a], [b]) => (a < b ? -1 : 1));
				return [
					head,
					...sorted.map(([path, times]) => `${' '.repeat(10)}${String(times).padStart(6)}  ${path}`),
				];
			});
	}
}

const ERROR = /^(refused|failed|degraded|lost|closed|warned) /;

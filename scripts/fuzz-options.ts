/** The command line of `npm run fuzz`. */

export const HELP = `npm run fuzz                          one minute of fuzzing and floods against a new server
npm run fuzz -- --minutes 10          run for this long; the last round is finished
npm run fuzz -- --seed 4711           use this seed; a run prints its seed, and each round adds its number to it
npm run fuzz -- --memory 512          run the server in a memory cgroup of this many MB, which the kernel enforces (Linux, root)
npm run fuzz -- --most-mb 512         fail when the server takes more memory than this; without --memory, its heap is also
                                      tuned to a machine of this size, as it is in a container
npm run fuzz -- --most-wait-ms 1000   fail when another user waits longer for a call during a flood; 0: no limit
npm run fuzz -- --cluster             attack a gateway of a new cluster: two gateways, a worker, and their services;
                                      --memory then limits both gateways together

Every round calls all methods with random arguments and with ids of another workspace, sends random frames and bytes over
sockets, and floods the server without tokens, as one user and with reconnects. It fails on a 5xx, on an internal_error, on
content of another workspace in an answer, on a change there, above the memory limit, and when another user waits too long.
Arguments follow from the seed; the order in which the server gets them does not. Waits are only meaningful on a machine
that does nothing else.`;

export interface FuzzOptions {
	readonly minutes: number;
	readonly seed: number;
	/** 0: no limit. */
	readonly memoryMb: number;
	readonly mostMb: number;
	readonly mostWaitMs: number;
	readonly cluster: boolean;
}

/** For the start line. `--most-mb` applies inside a cgroup too. */
export const memoryLimits = ({ memoryMb, mostMb }: Pick<FuzzOptions, 'memoryMb' | 'mostMb'>): string =>
	`at most ${mostMb} MB${memoryMb === 0 ? '' : `, in a cgroup of ${memoryMb} MB`}`;

export function readOptions(
	argv: readonly string[],
	anySeed: number,
): FuzzOptions | 'help' | { readonly problem: string } {
	if (argv.includes('--help') || argv.includes('-h')) return 'help';
	const values = new Map([
		['--minutes', 1],
		['--seed', anySeed],
		['--memory', 0],
		['--most-mb', 512],
		['--most-wait-ms', 1_000],
	]);
	const numbers = argv.filter((word) => word !== '--cluster');
	for (let index = 0; index < numbers.length; index += 2) {
		const name = numbers[index] as string;
		const value = Number(numbers[index + 1]);
		if (!values.has(name)) return { problem: `no such option: ${name}` };
		if (numbers[index + 1] === undefined || !(value >= 0)) return { problem: `${name} needs a number` };
		values.set(name, value);
	}
	const numberOf = (name: string): number => values.get(name) ?? 0;
	return {
		minutes: numberOf('--minutes'),
		seed: numberOf('--seed'),
		memoryMb: numberOf('--memory'),
		mostMb: numberOf('--most-mb'),
		mostWaitMs: numberOf('--most-wait-ms'),
		cluster: argv.includes('--cluster'),
	};
}

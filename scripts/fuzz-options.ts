/** The command line of `npm run fuzz`. */

export const HELP = `npm run fuzz                          one minute of fuzzing and floods against a server of its own
npm run fuzz -- --minutes 10          for so long; the round that is under way is finished
npm run fuzz -- --seed 4711           with this seed: the run prints it, and each round adds its number
npm run fuzz -- --most-mb 512         fails when the server takes more memory than this

Every round calls all methods with random arguments and with ids of another workspace, sends random frames and bytes over
sockets, and floods the server without tokens, as one user and with reconnects. It fails on a 5xx, on an internal_error, on
content of another workspace in an answer, on a change there, and above the memory limit. It prints how long another user
waited meanwhile. Arguments follow from the seed; the order in which the server gets them does not.`;

export interface FuzzOptions {
	readonly minutes: number;
	readonly seed: number;
	readonly mostMb: number;
}

export function readOptions(
	argv: readonly string[],
	anySeed: number,
): FuzzOptions | 'help' | { readonly problem: string } {
	if (argv.includes('--help') || argv.includes('-h')) return 'help';
	const values = new Map([
		['--minutes', 1],
		['--seed', anySeed],
		['--most-mb', 512],
	]);
	for (let index = 0; index < argv.length; index += 2) {
		const name = argv[index] as string;
		const value = Number(argv[index + 1]);
		if (!values.has(name)) return { problem: `no such option: ${name}` };
		if (argv[index + 1] === undefined || !(value >= 0)) return { problem: `${name} needs a number` };
		values.set(name, value);
	}
	const numberOf = (name: string): number => values.get(name) ?? 0;
	return { minutes: numberOf('--minutes'), seed: numberOf('--seed'), mostMb: numberOf('--most-mb') };
}

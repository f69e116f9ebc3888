import type { Load } from '../load/plan.ts';
import type { CliCommand } from './command.ts';
import { ConfigError } from './config.ts';
import { wholeNumber } from './settings/setting.ts';

/** The flags of `tidemark bench` that say how much load to generate, with their defaults and bounds. Pure. */

interface Amount {
	readonly flag: string;
	readonly fallback: number;
	readonly min: number;
	readonly max: number;
	readonly help: string;
}

/** A machine has about 28,000 ephemeral ports for connections to one server. */
const MAX_SOCKETS = 25_000;
/** The outcome of every post is kept in memory until the report. */
const MAX_POSTS = 10_000_000;

const AMOUNTS: Readonly<Record<keyof Load, Amount>> = {
	conversations: {
		flag: 'conversations',
		fallback: 20,
		min: 1,
		max: 10_000,
		help: 'conversations; posts go to them in turn',
	},
	members: { flag: 'members', fallback: 50, min: 1, max: 500_000, help: 'members of each conversation' },
	online: {
		flag: 'online',
		fallback: 100,
		min: 1,
		max: MAX_SOCKETS,
		help: 'users who are online, with one socket each; they post in turn',
	},
	rate: {
		flag: 'rate',
		fallback: 100,
		min: 1,
		max: 100_000,
		help: 'posts per second in total; sent on schedule even while earlier posts are unanswered',
	},
	seconds: { flag: 'seconds', fallback: 15, min: 1, max: 86_400, help: 'how long to measure' },
	warmUp: {
		flag: 'warm-up',
		fallback: 3,
		min: 0,
		max: 600,
		help: 'seconds of the same load before measuring',
	},
	textBytes: {
		flag: 'text-bytes',
		fallback: 100,
		min: 16,
		max: 4_000,
		help: 'bytes of text in each message',
	},
	marks: {
		flag: 'marks',
		fallback: 0,
		min: 0,
		max: 100_000,
		help: 'read marks per second in total: users mark the newest message that they received',
	},
};

export const LOAD_FLAGS: CliCommand['options'] = Object.fromEntries(
	Object.values(AMOUNTS).map(({ flag, help, fallback }) => [
		flag,
		{ help: `${help} (${fallback})`, takesValue: true },
	]),
);

/** Reports all problems at once. */
export function readLoad(options: Readonly<Record<string, string | undefined>>): Load {
	const problems: string[] = [];
	const read = ({ flag, fallback, min, max }: Amount): number => {
		const given = options[flag];
		if (given === undefined) return fallback;
		try {
			return wholeNumber(min, max)(given);
		} catch (error) {
			problems.push(`--${flag} "${given}" ${(error as Error).message}`);
			return fallback;
		}
	};
	const load = Object.fromEntries(Object.entries(AMOUNTS).map(([name, amount]) => [name, read(amount)]));
	const { rate = 0, warmUp = 0, seconds = 0 } = load;
	if (problems.length === 0 && rate * (warmUp + seconds) > MAX_POSTS)
		problems.push(`--rate times (--seconds + --warm-up) is more than ${MAX_POSTS} posts: lower one of them`);
	if (problems.length > 0) throw new ConfigError(problems);
	return load as unknown as Load;
}

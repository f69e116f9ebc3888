import { basename } from 'node:path';
import { ROOT } from './command.ts';

/** Test files that run in one process: those of a folder that need the same. */
export interface Group {
	readonly name: string;
	readonly files: readonly string[];
	/** As scripts/services calls them. */
	readonly services: readonly string[];
}

/** By the word in a test file's name: store-postgres.test.ts needs PostgreSQL. What runs on Redis runs on both of its layouts. */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
	postgres: ['postgres'],
	redis: ['redis', 'redis-cluster'],
	kafka: ['kafka'],
	cluster: ['redis-cluster', 'postgres', 'kafka'],
};

/** Who takes longest begins first, so that no lane is left with a long one at the end. */
const LONGEST = [
	'test/chaos',
	'test/cluster',
	'test/scenario',
	'test/push',
	'test/web',
	'test/sdks',
	'test/contract',
	'test/client',
];

export function findGroups(files: readonly string[]): Group[] {
	const groups = new Map<string, Group & { files: string[] }>();
	for (const file of files) {
		const words = basename(file).split(/[-.]/);
		const services = Object.keys(SERVICES)
			.filter((word) => words.includes(word))
			.flatMap((word) => SERVICES[word] ?? []);
		const name = [folderOf(file), ...services].join(' + ');
		const group = groups.get(name) ?? { name, files: [], services };
		group.files.push(file);
		groups.set(name, group);
	}
	return [...groups.values()].flatMap(parts).sort((a, b) => rank(a) - rank(b));
}

/** Tests that break a cluster mostly wait, for processes to start and for sessions to expire: two processes go through them. */
const DIVIDED = 'test/chaos';
const MAX_UNDIVIDED = 8;

/** Every other file, so that both have their share of slow ones. */
function parts(group: Group): Group[] {
	if (!group.name.startsWith(DIVIDED) || group.files.length <= MAX_UNDIVIDED) return [group];
	return [0, 1].map((part) => ({
		...group,
		name: `${group.name}, part ${part + 1} of 2`,
		files: group.files.filter((_, index) => index % 2 === part),
	}));
}

/** test/<first folder>, test itself, src. */
const folderOf = (file: string): string => /^test\/[^/]+(?=\/)/.exec(file)?.[0] ?? file.split('/', 1).join();

function rank({ files: [first = ''] }: Group): number {
	const place = LONGEST.indexOf(folderOf(first));
	return place < 0 ? LONGEST.length : place;
}

export const testFiles = (): string[] =>
	[...new Bun.Glob('{src,test}/**/*.test.ts').scanSync({ cwd: ROOT })].sort();

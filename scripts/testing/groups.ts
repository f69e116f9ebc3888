import { basename } from 'node:path';
import { ROOT } from './command.ts';

/** Test files that run in one process: those of one folder that need the same services. */
export interface Group {
	readonly name: string;
	readonly files: readonly string[];
	/** Names of services, as in scripts/services. */
	readonly services: readonly string[];
}

/** The services that a word in a test file's name stands for: store-postgres.test.ts needs PostgreSQL. Redis tests run on both layouts. */
const SERVICES: Readonly<Record<string, readonly string[]>> = {
	postgres: ['postgres'],
	redis: ['redis', 'redis-cluster'],
	kafka: ['kafka'],
	cluster: ['redis-cluster', 'postgres', 'kafka'],
};

/** The longest groups start first, so that none of them runs alone at the end. */
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

/** Tests that break a cluster mostly wait for processes to start and sessions to expire, so two processes share them. */
const DIVIDED = 'test/chaos';
const MAX_UNDIVIDED = 8;

/** Each part gets every other file, so that both have some of the slow ones. */
function parts(group: Group): Group[] {
	if (!group.name.startsWith(DIVIDED) || group.files.length <= MAX_UNDIVIDED) return [group];
	return [0, 1].map((part) => ({
		...group,
		name: `${group.name}, part ${part + 1} of 2`,
		files: group.files.filter((_, index) => index % 2 === part),
	}));
}

/** `test/<first folder>`, `test` or `src`. */
const folderOf = (file: string): string => /^test\/[^/]+(?=\/)/.exec(file)?.[0] ?? file.split('/', 1).join();

function rank({ files: [first = ''] }: Group): number {
	const place = LONGEST.indexOf(folderOf(first));
	return place < 0 ? LONGEST.length : place;
}

export const testFiles = (): string[] =>
	[...new Bun.Glob('{src,test}/**/*.test.ts').scanSync({ cwd: ROOT })].sort();

import { expect, test } from 'bun:test';
import { GroupCommit, STATEMENTS_PER_BATCH_ASIDE as SIZE } from './group-commit.ts';
import { type BoundWrite, statement as statementSql } from './write-sql.ts';

/** Work aside and work that people wait for, in turns. */

const statement = (name: string): BoundWrite => ({ write: statementSql(name, name), params: [] });
const many = (name: string, count: number): BoundWrite[] =>
	Array.from({ length: count }, () => statement(name));

function scene(fails: (texts: readonly string[]) => boolean = () => false) {
	const written: string[][] = [];
	const failures: string[] = [];
	const commits = new GroupCommit(
		async ({ writes }) => {
			const texts = writes.map((write) => write?.text ?? '');
			await Bun.sleep(0);
			if (fails(texts)) throw new Error('no room');
			written.push([...texts]);
		},
		({ message }) => failures.push(message),
		0,
	);
	return { commits, written, failures };
}

test('who posts waits for one batch aside at most, and the rest of them is written as well', async () => {
	const { commits, written } = scene();
	const aside = [1, 2, 3, 4].map(() => commits.executeAside(many('aside', SIZE)));
	// The first of them is under way.
	await Bun.sleep(0);
	await commits.execute([statement('post')]);
	expect(written.map(([first, ...others]) => [first, others.length])).toEqual([
		['aside', SIZE - 1],
		['post', 0],
	]);
	await Promise.all(aside);
	expect(written.flat().filter((text) => text === 'aside')).toHaveLength(SIZE * 4);
});

test('a stream of posts does not hold up what is aside', async () => {
	const { commits, written } = scene();
	const state = { over: false };
	const posting = (async () => {
		while (!state.over) await commits.execute([statement('post')]);
	})();
	await Promise.all([1, 2, 3].map(() => commits.executeAside(many('aside', SIZE))));
	state.over = true;
	await posting;
	expect(written.filter(([first]) => first === 'post').length).toBeLessThan(10);
});

test('nobody waits for what is aside to see what is theirs; closing does', async () => {
	const { commits, written } = scene();
	const aside = commits.executeAside(many('aside', SIZE * 4));
	await commits.settled();
	expect(written).toEqual([]);
	await commits.close();
	expect(written.flat()).toHaveLength(SIZE * 4);
	await aside;
	await expect(commits.executeAside([statement('late')])).rejects.toThrow('closed');
});

test('what fails aside fails alone; what people wait for fails with what is behind it', async () => {
	const { commits, written, failures } = scene((texts) => texts.includes('bad'));
	const results = await Promise.allSettled([
		commits.executeAside([...many('aside', SIZE - 1), statement('bad')]),
		commits.execute([statement('post')]),
		commits.executeAside([statement('more')]),
	]);
	expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
	expect(written).toEqual([['post'], ['more']]);
	expect(failures).toEqual([]);
	await expect(commits.execute([statement('bad')])).rejects.toThrow('could not be written');
	await commits.settled().catch(() => undefined);
	await Bun.sleep(5);
	expect(failures).toEqual(['no room']);
});

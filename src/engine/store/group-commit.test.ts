import { expect, test } from 'bun:test';
import { GroupCommit, STATEMENTS_PER_BACKGROUND_BATCH as SIZE } from './group-commit.ts';
import { type BoundWrite, statement as statementSql } from './write-sql.ts';

/** Background batches alternate with those that requests wait for. */

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

test('a post waits for one background batch at most, and the others are written as well', async () => {
	const { commits, written } = scene();
	const background = [1, 2, 3, 4].map(() => commits.executeInBackground(many('background', SIZE)));
	// The first of them is under way.
	await Bun.sleep(0);
	await commits.execute([statement('post')]);
	expect(written.map(([first, ...others]) => [first, others.length])).toEqual([
		['background', SIZE - 1],
		['post', 0],
	]);
	await Promise.all(background);
	expect(written.flat().filter((text) => text === 'background')).toHaveLength(SIZE * 4);
});

test('a stream of posts does not block background batches', async () => {
	const { commits, written } = scene();
	const state = { over: false };
	const posting = (async () => {
		while (!state.over) await commits.execute([statement('post')]);
	})();
	await Promise.all([1, 2, 3].map(() => commits.executeInBackground(many('background', SIZE))));
	state.over = true;
	await posting;
	expect(written.filter(([first]) => first === 'post').length).toBeLessThan(10);
});

test('`flushed` does not wait for background batches; closing does', async () => {
	const { commits, written } = scene();
	const background = commits.executeInBackground(many('background', SIZE * 4));
	await commits.flushed();
	expect(written).toEqual([]);
	await commits.close();
	expect(written.flat()).toHaveLength(SIZE * 4);
	await background;
	await expect(commits.executeInBackground([statement('late')])).rejects.toThrow('closed');
});

test('a background batch fails alone; a batch that requests wait for fails together with those behind it', async () => {
	const { commits, written, failures } = scene((texts) => texts.includes('bad'));
	const results = await Promise.allSettled([
		commits.executeInBackground([...many('background', SIZE - 1), statement('bad')]),
		commits.execute([statement('post')]),
		commits.executeInBackground([statement('more')]),
	]);
	expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
	expect(written).toEqual([['post'], ['more']]);
	expect(failures).toEqual([]);
	await expect(commits.execute([statement('bad')])).rejects.toThrow('the write failed');
	await commits.flushed().catch(() => undefined);
	await Bun.sleep(5);
	expect(failures).toEqual(['no room']);
});

import { afterAll } from 'bun:test';

/**
 * Closes what several test files of a process share, after the last file. bunfig.toml loads this before every test file:
 * only then does Bun run the hook once for the process, and not at the end of a file.
 */

const closing: (() => Promise<unknown>)[] = [];

/** Closed in the reverse order of these calls. */
export const atEnd = (close: () => Promise<unknown>): void => void closing.push(close);

afterAll(async () => {
	for (const close of closing.splice(0).reverse()) await close();
}, 120_000);

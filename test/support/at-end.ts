import { afterAll } from 'bun:test';

/**
 * Closes resources that several test files of a process share, after the last file. bunfig.toml preloads this file: Bun
 * runs an `afterAll` of a preloaded file once per process, and any other at the end of its test file.
 */

const closing: (() => Promise<unknown>)[] = [];

/** Resources are closed in the reverse order of these calls. */
export const atEnd = (close: () => Promise<unknown>): void => void closing.push(close);

afterAll(async () => {
	for (const close of closing.splice(0).reverse()) await close();
}, 120_000);

import type { TidemarkClient } from '@tidemark/client';
import { loadAppFeatures } from './features.ts';

/** Parses `/tide Dover` into a command and its text; null if no app of the workspace has the command. */

export interface Command {
	readonly command: string;
	readonly text: string;
}

const WRITTEN = /^(\/[a-z0-9_-]{1,31})(?:\s+([\s\S]*))?$/;

export async function commandIn(client: TidemarkClient, written: string): Promise<Command | null> {
	const [, command, text = ''] = WRITTEN.exec(written.trim()) ?? [];
	if (command === undefined) return null;
	const { commands } = await loadAppFeatures(client);
	return commands.some(({ name }) => name === command) ? { command, text } : null;
}

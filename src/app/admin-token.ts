import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keepSecret } from './private-files.ts';

/**
 * The administrator's token: what is configured, else the one kept in the data directory, else a new one.
 */

export const adminTokenFile = (dataDir: string): string => join(dataDir, 'admin-token');

export interface AdminToken {
	readonly token: string;
	/** It was made just now: the moment to show it. */
	readonly isNew: boolean;
}

export async function adminTokenOf(configured: string | null, dataDir: string): Promise<AdminToken> {
	if (configured !== null) return { token: configured, isNew: false };
	const kept = await keptAdminToken(dataDir);
	if (kept !== null) return { token: kept, isNew: false };
	return { token: `xoxa-${randomBytes(32).toString('base64url')}`, isNew: true };
}

/** Written for its owner alone to read, once it is sure to be shown: a token that nobody saw is of no use. */
export async function keepAdminToken({ token, isNew }: AdminToken, dataDir: string): Promise<void> {
	if (!isNew) return;
	await mkdir(dataDir, { recursive: true, mode: 0o700 });
	await keepSecret(adminTokenFile(dataDir), `${token}\n`);
}

export async function keptAdminToken(dataDir: string): Promise<string | null> {
	try {
		return (await readFile(adminTokenFile(dataDir), 'utf8')).trim() || null;
	} catch {
		return null;
	}
}

import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeSecret } from './private-files.ts';

/** The administrator's token: the configured one, else the one saved in the data directory, else a new one. */

export const adminTokenFile = (dataDir: string): string => join(dataDir, 'admin-token');

export interface AdminToken {
	readonly token: string;
	/** Generated at this start: print it, because it is never printed again. */
	readonly isNew: boolean;
}

export async function adminTokenOf(configured: string | null, dataDir: string): Promise<AdminToken> {
	if (configured !== null) return { token: configured, isNew: false };
	const saved = await savedAdminToken(dataDir);
	if (saved !== null) return { token: saved, isNew: false };
	return { token: `xoxa-${randomBytes(32).toString('base64url')}`, isNew: true };
}

/**
 * Saves a new token, readable by the owner only. Call it right before the token is shown: a saved token that nobody
 * has seen is useless.
 */
export async function saveAdminToken({ token, isNew }: AdminToken, dataDir: string): Promise<void> {
	if (!isNew) return;
	await mkdir(dataDir, { recursive: true, mode: 0o700 });
	await writeSecret(adminTokenFile(dataDir), `${token}\n`);
}

export async function savedAdminToken(dataDir: string): Promise<string | null> {
	try {
		return (await readFile(adminTokenFile(dataDir), 'utf8')).trim() || null;
	} catch {
		return null;
	}
}

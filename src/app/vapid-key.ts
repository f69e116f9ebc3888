import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newVapidKey, type VapidKey, vapidKeyOf } from '../push/web/vapid.ts';
import type { Config } from './config.ts';
import { writeSecret } from './private-files.ts';

/**
 * The VAPID key of Web Push: the configured one, else the one saved in the data directory, else a new one, which is
 * saved. A cluster has no data directory: without a configured key, its Web Push is disabled.
 */

export const vapidKeyFile = (dataDir: string): string => join(dataDir, 'vapid-key');

export const configuredVapidKey = ({ webPush, vapidPrivateKey }: Config): VapidKey | null =>
	webPush === 'on' ? vapidPrivateKey : null;

/** For a process that is the only user of its data directory. */
export async function vapidKeyIn(config: Config): Promise<VapidKey | null> {
	if (config.webPush === 'off') return null;
	if (config.vapidPrivateKey !== null) return config.vapidPrivateKey;
	const file = vapidKeyFile(config.dataDir);
	const saved = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return null;
		throw new Error(`${file} cannot be read (${error.code})`);
	});
	if (saved === null) return saveKey(newVapidKey(), file);
	try {
		return vapidKeyOf(saved.trim());
	} catch (error) {
		throw new Error(
			`the content of ${file} ${(error as Error).message}: restore the file, or remove it; browsers then have to subscribe again`,
		);
	}
}

/** The key is a secret: it can sign notifications to every subscribed browser. */
async function saveKey(key: VapidKey, file: string): Promise<VapidKey> {
	await writeSecret(file, `${key.privateKey}\n`);
	return key;
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newVapidKey, type VapidKey, vapidKeyOf } from '../push/web/vapid.ts';
import type { Config } from './config.ts';
import { keepSecret } from './private-files.ts';

/**
 * The key of Web Push: what is configured, else the one kept in the data directory, else a new one, which is kept. A
 * cluster has no such directory and needs it configured; without, it does no Web Push.
 */

export const vapidKeyFile = (dataDir: string): string => join(dataDir, 'vapid-key');

export const configuredVapidKey = ({ webPush, vapidPrivateKey }: Config): VapidKey | null =>
	webPush === 'on' ? vapidPrivateKey : null;

/** For a process that has its data directory to itself. */
export async function vapidKeyIn(config: Config): Promise<VapidKey | null> {
	if (config.webPush === 'off') return null;
	if (config.vapidPrivateKey !== null) return config.vapidPrivateKey;
	const file = vapidKeyFile(config.dataDir);
	const kept = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') return null;
		throw new Error(`${file} cannot be read (${error.code})`);
	});
	if (kept === null) return keep(newVapidKey(), file);
	try {
		return vapidKeyOf(kept.trim());
	} catch (error) {
		throw new Error(
			`the content of ${file} ${(error as Error).message}: restore the file, or remove it and let browsers subscribe again`,
		);
	}
}

/** A secret: with it anybody can write to every browser that subscribed. */
async function keep(key: VapidKey, file: string): Promise<VapidKey> {
	await keepSecret(file, `${key.privateKey}\n`);
	return key;
}

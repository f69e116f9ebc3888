import { readFile } from 'node:fs/promises';
import { importPKCS8, SignJWT } from 'jose';
import { CachedToken } from '../cached-token.ts';

/**
 * The provider token: a JWT signed with the key of the developer account. APNs accepts one for up to an hour and
 * rejects senders who create new ones more often than every 20 minutes.
 */

const RENEW_AFTER_MS = 45 * 60_000;

export interface ApnsKey {
	/** PEM file from Apple (AuthKey_….p8). */
	readonly keyFile: string;
	readonly keyId: string;
	readonly teamId: string;
}

export function providerToken({ keyFile, keyId, teamId }: ApnsKey, nowMs: () => number): CachedToken {
	return new CachedToken(async () => {
		const key = await readKey(keyFile);
		const token = await new SignJWT()
			.setProtectedHeader({ alg: 'ES256', kid: keyId })
			.setIssuer(teamId)
			.setIssuedAt(Math.floor(nowMs() / 1000))
			.sign(key);
		return { token, forMs: RENEW_AFTER_MS };
	}, nowMs);
}

/** Errors describe the problem of the file, never its content. */
export async function readKey(file: string) {
	let pem: string;
	try {
		pem = await readFile(file, 'utf8');
	} catch (error) {
		throw new Error(`the key file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
	}
	try {
		return await importPKCS8(pem, 'ES256');
	} catch {
		throw new Error(`the key file ${file} contains no private key for ES256 (PKCS #8, PEM)`);
	}
}

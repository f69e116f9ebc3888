import { readFile } from 'node:fs/promises';
import { importPKCS8, SignJWT } from 'jose';
import { CachedToken } from '../cached-token.ts';

/**
 * An OAuth token for a service account (RFC 7523): exchanges a JWT signed with the account's key for a token of one
 * hour, at the address in the account's file.
 */

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const JWT_LIFETIME_S = 3_600;
/** How long before its expiry a token is renewed. */
const EARLY_MS = 300_000;
const ANSWER_TIMEOUT_MS = 10_000;

export interface ServiceAccount {
	readonly projectId: string;
	readonly email: string;
	readonly privateKey: string;
	readonly tokenUri: string;
}

/** Errors describe the problem of the file, never its content. */
export async function readServiceAccount(file: string): Promise<ServiceAccount> {
	let text: string;
	try {
		text = await readFile(file, 'utf8');
	} catch (error) {
		throw new Error(
			`the service account file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
		);
	}
	const found = fieldsOf(text);
	const { project_id, client_email, private_key, token_uri } = found;
	if (!project_id || !client_email || !private_key || !token_uri)
		throw new Error(
			`the service account file ${file} lacks project_id, client_email, private_key or token_uri`,
		);
	return { projectId: project_id, email: client_email, privateKey: private_key, tokenUri: token_uri };
}

function fieldsOf(text: string): Readonly<Record<string, string | undefined>> {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null ? (value as Record<string, string>) : {};
	} catch {
		return {};
	}
}

export const accessToken = (account: () => Promise<ServiceAccount>, nowMs: () => number): CachedToken =>
	new CachedToken(async () => {
		const { email, privateKey, tokenUri } = await account();
		const assertion = await signed(email, privateKey, tokenUri, Math.floor(nowMs() / 1000));
		const { host } = new URL(tokenUri);
		let response: Response;
		try {
			response = await fetch(tokenUri, {
				method: 'POST',
				body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
				signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
			});
		} catch (error) {
			throw new Error(`${host} is unreachable: ${(error as Error).message}`);
		}
		const answer = fieldsOf(await response.text()) as {
			access_token?: string;
			expires_in?: number;
			error?: string;
		};
		if (!response.ok || !answer.access_token)
			throw new Error(
				`${host} rejected the service account with ${response.status} ${String(answer.error ?? '').slice(0, 100)}: check that its key is not revoked`,
			);
		return { token: answer.access_token, forMs: Math.max(0, (answer.expires_in ?? 3_600) * 1000 - EARLY_MS) };
	}, nowMs);

async function signed(email: string, privateKey: string, audience: string, now: number): Promise<string> {
	const key = await importPKCS8(privateKey, 'RS256').catch(() => {
		throw new Error('the private key of the service account is invalid (expected PKCS #8, PEM, RSA)');
	});
	return new SignJWT({ scope: SCOPE })
		.setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
		.setIssuer(email)
		.setAudience(audience)
		.setIssuedAt(now)
		.setExpirationTime(now + JWT_LIFETIME_S)
		.sign(key);
}

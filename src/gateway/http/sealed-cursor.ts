import { createCipheriv, createDecipheriv } from 'node:crypto';
import { Rejection } from '../../model/errors.ts';
import type { UserCall } from './method.ts';

/**
 * Page cursors of lists of conversations and scheduled messages, encrypted and bound to the user and method that they
 * were made for: a client can neither read the id inside nor forge a cursor that starts elsewhere.
 */

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_LENGTH = 400;

const keyOf = async ({ services, caller }: UserCall): Promise<Uint8Array> =>
	(await services.teamSecrets.digestFor(caller.team, 'cursor'))('');

const boundTo = ({ caller }: UserCall, method: string): Buffer => Buffer.from(`${method} ${caller.user.id}`);

/** Like `nextCursor`: empty at the end. */
export async function sealedNext(call: UserCall, method: string, next: string | null) {
	return { response_metadata: { next_cursor: next === null ? '' : await seal(call, method, next) } };
}

async function seal(call: UserCall, method: string, value: string): Promise<string> {
	const nonce = crypto.getRandomValues(Buffer.alloc(NONCE_BYTES));
	const cipher = createCipheriv(CIPHER, await keyOf(call), nonce).setAAD(boundTo(call, method));
	const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
	return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64');
}

/** Returns where the page starts; null: this is the first page. */
export async function openCursor(
	call: UserCall,
	method: string,
	text: string | undefined,
): Promise<string | null> {
	if (text === undefined) return null;
	const bytes = Buffer.from(text, 'base64');
	try {
		if (text.length > MAX_LENGTH || bytes.length <= NONCE_BYTES + TAG_BYTES) throw new Error('wrong length');
		const decipher = createDecipheriv(CIPHER, await keyOf(call), bytes.subarray(0, NONCE_BYTES))
			.setAAD(boundTo(call, method))
			.setAuthTag(bytes.subarray(-TAG_BYTES));
		const sealed = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
		return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
	} catch (error) {
		if (error instanceof Rejection) throw error;
		throw new Rejection('invalid_cursor', 'cursor: this method did not return it to this user');
	}
}

import { createClient } from '@tidemark/client';
import { adminToken } from './AdminSignIn.tsx';

/** Calls the administrator's methods. */

export interface Team {
	readonly id: string;
	readonly name: string;
	readonly domain: string;
}

export interface Member {
	readonly id: string;
	readonly name: string;
	readonly real_name: string;
	readonly deleted: boolean;
	readonly is_bot: boolean;
}

export interface Invite {
	readonly id: string;
	readonly user_id?: string;
	readonly label: string;
	/** The user who created it; absent if the administrator did. */
	readonly created_by?: string;
	readonly date_created: number;
	readonly expires_at: number;
	readonly is_active: boolean;
}

export const asAdmin = <T>(method: string, args: Readonly<Record<string, unknown>> = {}): Promise<T> =>
	createClient({ token: adminToken() }).call(method, args);

/** Loads the whole list: the filter finds only loaded entries. */
export async function listAll<T>(
	method: string,
	key: string,
	args: Readonly<Record<string, unknown>> = {},
): Promise<readonly T[]> {
	const all: T[] = [];
	let cursor = '';
	do {
		const answer = await asAdmin<
			Record<string, readonly T[]> & { response_metadata: { next_cursor: string } }
		>(method, { ...args, limit: 1000, ...(cursor === '' ? {} : { cursor }) });
		all.push(...(answer[key] ?? []));
		cursor = answer.response_metadata.next_cursor;
	} while (cursor !== '');
	return all;
}

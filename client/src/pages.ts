import type { Answer, Api, Arguments } from './api.ts';

/** Iterates over all pages of a list. */
export async function* pages(api: Api, method: string, args: Arguments): AsyncGenerator<Answer> {
	let cursor = '';
	do {
		const page = await api.callIdempotent(method, { ...args, ...(cursor ? { cursor } : {}) });
		yield page;
		cursor = page.response_metadata?.next_cursor ?? '';
	} while (cursor !== '');
}

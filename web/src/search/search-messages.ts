import type { TidemarkClient } from '@tidemark/client';

/** Calls search.messages. The types describe the part of its answer that the page shows. */

export interface Match {
	readonly channel: { readonly id: string; readonly name: string; readonly is_im?: boolean };
	readonly user: string;
	readonly username?: string;
	readonly ts: string;
	readonly text: string;
	readonly thread_ts?: string;
	readonly blocks?: readonly unknown[];
	readonly attachments?: readonly unknown[];
}

export interface SearchResults {
	readonly total: number;
	readonly matches: readonly Match[];
	readonly page: number;
	readonly pages: number;
}

interface Answer {
	readonly messages: {
		readonly total: number;
		readonly matches: readonly Match[];
		readonly paging: { readonly page: number; readonly pages: number };
	};
}

export async function searchMessages(
	client: TidemarkClient,
	query: string,
	page: number,
): Promise<SearchResults> {
	const { messages } = await client.call<Answer>('search.messages', {
		query,
		page,
		count: 30,
		sort: 'timestamp',
	});
	return { total: messages.total, matches: messages.matches, page, pages: messages.paging.pages };
}

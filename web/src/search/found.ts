import type { TidemarkClient } from '@tidemark/client';

/** The part of the answer of search.messages that is shown. */

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

export interface Found {
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

export async function searchMessages(client: TidemarkClient, query: string, page: number): Promise<Found> {
	const { messages } = await client.call<Answer>('search.messages', {
		query,
		page,
		count: 30,
		sort: 'timestamp',
	});
	return { total: messages.total, matches: messages.matches, page, pages: messages.paging.pages };
}

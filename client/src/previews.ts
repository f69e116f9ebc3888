import type { Api } from './api.ts';
import type { CountsState } from './counts-state.ts';
import { NEVER, type Wire } from './wire.ts';

/** Fetches the newest message of each conversation, from the top of the inbox on. Events then update it. */

const PAGE = 50;
/** Small: usually the first message is the preview. Only tombstones come before it, and they are rare. */
const REFRESH_PAGE = 10;

export class Previews {
	/** Null: all pages are loaded. */
	private cursor: string | null = '';

	constructor(
		private readonly api: Api,
		private readonly state: CountsState,
	) {}

	/** Starts from the top again after a reload. */
	restart(): Promise<void> {
		this.cursor = '';
		return this.loadMore();
	}

	async loadMore(): Promise<void> {
		const { cursor } = this;
		if (cursor === null) return;
		const answer = await this.api.callIdempotent('inbox.list', {
			limit: PAGE,
			...(cursor ? { cursor } : {}),
		});
		this.cursor = answer.response_metadata?.next_cursor || null;
		for (const { id, latest } of answer.items) this.setPreview(id, latest);
	}

	/** For one conversation without a preview: its newest message was deleted, or it has just been joined or unarchived. */
	async refresh(channel: string): Promise<void> {
		const known = this.state.conversations.get(channel);
		if (!known || known.preview || known.latest === NEVER) return;
		const pages = this.api.pages('conversations.history', { channel, limit: REFRESH_PAGE });
		for await (const { messages } of pages) {
			const newest = messages.find(({ subtype }: Wire) => subtype !== 'tombstone');
			if (newest) return this.setPreview(channel, newest);
		}
	}

	private setPreview(id: string, latest: Wire): void {
		const known = this.state.conversations.get(id);
		// An event has brought a newer message.
		if (!known || !latest || (known.preview?.ts ?? '') >= latest.ts) return;
		this.state.describe(id, { preview: { ts: latest.ts, user: latest.user, text: latest.text } });
	}
}

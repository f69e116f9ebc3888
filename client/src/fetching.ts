import type { Api } from './api.ts';
import type { CountsState } from './counts-state.ts';
import { toCounts, toDescription, type Wire } from './wire.ts';

/** Fetches conversations and their counts: all of them at the start, one when an event does not contain enough. */

const EVERY_KIND = 'public_channel,private_channel,mpim,im';

/** Fetches the counts first: every later change also arrives as an event, so the descriptions may be newer than the counts. */
export async function fetchEverything(api: Api): Promise<{ counts: Wire; channels: readonly Wire[] }> {
	const counts = await api.callOnce('client.counts');
	const channels: Wire[] = [];
	const everything = { types: EVERY_KIND, exclude_archived: true, limit: 1000 };
	for await (const page of api.pages('users.conversations', everything)) channels.push(...page.channels);
	return { counts, channels };
}

/** For a conversation that was unarchived, or whose counts became uncertain. */
export async function fetchConversation(api: Api, state: CountsState, id: string): Promise<void> {
	const { channel } = await api.callIdempotent('conversations.info', { channel: id });
	// If the user left, or the conversation was archived again meanwhile, an event follows.
	if (channel.is_archived || !channel.position) return;
	state.setCounts(id, toCounts(channel));
	state.describe(id, toDescription(channel));
}

/** For a conversation that the user may have left, or that may be archived. */
export async function fetchMembership(api: Api, state: CountsState, id: string): Promise<void> {
	const { channel } = await api.callIdempotent('conversations.info', { channel: id });
	if (channel.is_archived || !channel.position) return state.drop(id);
	state.setCounts(id, toCounts(channel));
}

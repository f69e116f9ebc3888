import type { SearchMatch } from '../../../engine/ports/search.ts';
import type { Conversation } from '../../../model/conversation.ts';
import { Rejection } from '../../../model/errors.ts';
import { isConversationId, isDirect, isUserId } from '../../../model/ids.ts';
import { bytesOf, type Message } from '../../../model/message.ts';
import { parseSearch } from '../../../model/search-query.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import { previewOf } from '../../../protocol/preview.ts';
import { usersOf } from '../access.ts';
import * as type from '../argument-types.ts';
import { withDefault } from '../arguments.ts';
import { messageObjects } from '../message-objects.ts';
import { type UserCall, userMethod } from '../method.ts';
import { permalinkOf } from './chat-permalink.ts';
import { openWith } from './conversations-open.ts';

/**
 * Search, limited to what the caller may read. A search costs ten calls, and each user has one running at a time.
 */

const PAGE = 20;
const MAX_PAGE_SIZE = 100;
/** After this many bytes of text on a page, messages are cut to a preview. */
const MAX_BYTES = 1_000_000;
const COST = 10;

const searchArguments = {
	query: type.text({ missing: 'no_query', max: 1000 }),
	count: withDefault(type.count, PAGE),
	page: withDefault(type.count, 1),
	sort: withDefault(type.oneOf(['score', 'timestamp']), 'score'),
	sort_dir: withDefault(type.oneOf(['asc', 'desc']), 'desc'),
};
const IGNORED = ['cursor', 'highlight', 'team_id'];

interface Arguments {
	readonly query: string;
	readonly count: number;
	readonly page: number;
	readonly sort: 'score' | 'timestamp';
	readonly sort_dir: 'asc' | 'desc';
}

const method = (answer: (args: Arguments, call: UserCall) => Promise<JsonObject>) =>
	userMethod({ arguments: searchArguments, ignored: IGNORED, cost: () => COST, run: answer });

export const searchMessages = method(async (args, call) => ({
	query: args.query,
	messages: await messagesFor(args, call),
}));

/** Always empty: files are found through the messages that share them. */
export const searchFiles = method(async (args) => ({ query: args.query, files: nothing(args) }));

export const searchAll = method(async (args, call) => ({
	query: args.query,
	messages: await messagesFor(args, call),
	files: nothing(args),
	posts: { total: 0, matches: [] },
}));

const nothing = (args: Arguments): JsonObject => ({ ...pageOf(args, 0).fields, matches: [] });

function pageOf({ count, page }: Pick<Arguments, 'count' | 'page'>, total: number) {
	const size = Math.max(1, Math.min(count || PAGE, MAX_PAGE_SIZE));
	const number = Math.max(1, page);
	const pages = Math.ceil(total / size);
	const start = (number - 1) * size;
	const shown = Math.max(0, Math.min(total - start, size));
	const fields = {
		total,
		paging: { count: size, total, page: number, pages },
		pagination: {
			total_count: total,
			page: number,
			per_page: size,
			page_count: pages,
			first: shown === 0 ? 0 : start + 1,
			last: shown === 0 ? 0 : start + shown,
		},
	};
	return { start, size, fields };
}

async function messagesFor(args: Arguments, call: UserCall): Promise<JsonObject> {
	if (args.query.trim() === '') throw new Rejection('no_query', 'query: must not be empty');
	const { services, caller } = call;
	return services.largeReads.run(caller.user.id, async () => {
		const found = await find(call, args.query);
		const { start, size, fields } = pageOf(args, found.length);
		const shown = sorted(found, args).slice(start, start + size);
		return { ...fields, matches: await matchObjects(call, shown) };
	});
}

function sorted(found: readonly SearchMatch[], { sort, sort_dir: direction }: Arguments): SearchMatch[] {
	const order = (a: SearchMatch, b: SearchMatch): number =>
		(sort === 'score' ? a.hits - b.hits : 0) || a.ts - b.ts;
	return [...found].sort((a, b) => (direction === 'asc' ? order(a, b) : order(b, a)));
}

async function find(call: UserCall, text: string): Promise<readonly SearchMatch[]> {
	const { services, caller } = call;
	const query = parseSearch(text, services.clock.next());
	const from = await Promise.all(query.from.map((name) => authorOf(call, name)));
	const places = await Promise.all(query.in.map((name) => conversationFor(call, name)));
	const isAnything = query.terms.length + query.from.length + query.in.length + query.has.length > 0;
	const isDated = query.after > 0 || query.before < Number.MAX_SAFE_INTEGER;
	if (!isAnything && !isDated) return [];
	// An unknown name must find nothing, rather than drop the filter.
	if (from.length > 0 && from.every((id) => id === null)) return [];
	if (places.length > 0 && places.every((id) => id === null)) return [];
	return services.search.find({
		...query,
		team: caller.team,
		user: caller.user.id,
		memberOnly: caller.user.isBot,
		from: from.length === 0 ? null : from.filter((id) => id !== null),
		in: places.length === 0 ? null : places.filter((id) => id !== null),
	});
}

const MENTION = /^<[@#]([A-Z0-9]+)(?:\|[^>]*)?>$/;
const idIn = (text: string): string => MENTION.exec(text)?.[1] ?? text;

async function authorOf({ services, caller }: UserCall, written: string): Promise<string | null> {
	const name = idIn(written).replace(/^@/, '');
	if (name === 'me') return caller.user.id;
	if (isUserId(name)) return name;
	const found = await services.directory.usersNamed(caller.team, [name, name.toLowerCase()]);
	const user = found.find((one) => one.name === name) ?? found[0];
	return user?.id ?? null;
}

/** The search itself checks that the caller may read the conversation. */
async function conversationFor(call: UserCall, written: string): Promise<string | null> {
	const { services, caller } = call;
	const name = idIn(written);
	if (isConversationId(name)) return name;
	if (!name.startsWith('@') && !isUserId(name))
		return services.directory.channelNamed(caller.team, name.replace(/^#/, '').toLowerCase());
	const user = await authorOf(call, name);
	if (user === null) return null;
	try {
		return (await openWith(call, await usersOf(services, caller.team, [user], 'query'), true)).id;
	} catch (error) {
		if (error instanceof Rejection) return null;
		throw error;
	}
}

/** In the order of the matches, without messages that were deleted meanwhile. */
async function matchObjects(call: UserCall, shown: readonly SearchMatch[]): Promise<JsonObject[]> {
	const { history, directory } = call.services;
	const conversations = new Map(
		(await directory.conversations([...new Set(shown.map(({ conversation }) => conversation))])).map(
			(one) => [one.id, one],
		),
	);
	const found = new Map<string, JsonObject>();
	let room = MAX_BYTES;
	for (const [id, ofOne] of Map.groupBy(shown, ({ conversation }) => conversation)) {
		const conversation = conversations.get(id);
		if (!conversation) continue;
		const messages: Message[] = [];
		for (const message of await history.messages(
			id,
			ofOne.map(({ ts }) => ts),
		)) {
			if (message.deleted) continue;
			room -= bytesOf(message);
			messages.push(room > 0 ? message : previewOf(message).message);
		}
		const made = await messageObjects(call, conversation, messages);
		for (const [index, object] of made.entries()) {
			const message = messages[index] as Message;
			found.set(`${id} ${message.ts}`, matchOf(call, conversation, message, object));
		}
	}
	return shown.flatMap(({ conversation, ts, hits }) => {
		const object = found.get(`${conversation} ${ts}`);
		return object ? [{ ...object, score: hits }] : [];
	});
}

function matchOf(
	call: UserCall,
	conversation: Conversation,
	message: Message,
	object: JsonObject,
): JsonObject {
	const { kind, id, name } = conversation;
	const { root: _root, ...shown } = object;
	return {
		...shown,
		iid: `${id}-${message.ts}`,
		team: conversation.team,
		channel: {
			id,
			name: kind === 'im' ? (conversation.people.find((user) => user !== call.caller.user.id) ?? '') : name,
			is_channel: kind === 'public',
			is_group: kind === 'private',
			is_im: kind === 'im',
			is_mpim: kind === 'mpim',
			is_private: kind !== 'public',
			is_shared: false,
			is_ext_shared: false,
			is_org_shared: false,
			...(isDirect(kind) ? { user: conversation.people.find((user) => user !== call.caller.user.id) } : {}),
		},
		type: 'message',
		username: (object.username as string | undefined) ?? '',
		permalink: permalinkOf(call, message),
	};
}

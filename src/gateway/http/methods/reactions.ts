import type { ReactedMessage } from '../../../engine/ports/store.ts';
import type { Conversation } from '../../../model/conversation.ts';
import { Rejection } from '../../../model/errors.ts';
import type { Message } from '../../../model/message.ts';
import { parseReactionName } from '../../../model/reactions.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import { readableConversation, readableOrNull } from '../access.ts';
import { boundedAnswer } from '../answer-size.ts';
import * as type from '../argument-types.ts';
import { optional, required } from '../arguments.ts';
import { messageObjects, messagePage } from '../message-objects.ts';
import { costOfRows, type UserCall, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { submit } from '../submit.ts';

/** Reactions: members add and remove their own; users who may read a message see its reactions. */

const name = required<string>({
	expects: 'the name of an emoji, without colons',
	bad: 'invalid_name',
	missing: 'invalid_name',
	parse: (value) => (typeof value === 'string' ? parseReactionName(value) : undefined),
});

/** Slack allows reactions to messages, files and comments; Tidemark only to messages. */
const item = { channel: optional(type.channel), timestamp: optional(type.ts('bad_timestamp')) };
const IGNORED = ['file', 'file_comment'];

interface Item {
	readonly channel: string | undefined;
	readonly timestamp: number | undefined;
}

function itemOf({ channel, timestamp }: Item): { channel: string; ts: number } {
	if (channel === undefined || timestamp === undefined)
		throw new Rejection('no_item_specified', 'channel, timestamp: both are required');
	return { channel, ts: timestamp };
}

const change = (added: boolean) =>
	userMethod({
		limited: 'posts',
		arguments: { name, ...item },
		ignored: IGNORED,
		run: async (args, call) => {
			const { channel, ts } = itemOf(args);
			await submit(call, channel, { type: 'react', ts, name: args.name, added });
			return {};
		},
	});

export const reactionsAdd = change(true);
export const reactionsRemove = change(false);

/** Limit for the users that `full` returns for a message, for all its reactions together. */
const MAX_REACTORS = 1000;

export const reactionsGet = userMethod({
	arguments: { ...item, full: type.flag },
	ignored: IGNORED,
	run: async (args, call) => {
		const { channel, ts } = itemOf(args);
		const conversation = await readableConversation(call, channel);
		const message = await liveMessage(call, channel, ts);
		const [object] = await messageObjects(call, conversation, [message]);
		return {
			type: 'message',
			channel,
			message: args.full && object ? await withAllUsers(call, channel, ts, object) : object,
		};
	},
});

async function liveMessage({ services }: UserCall, channel: string, ts: number): Promise<Message> {
	const [message] = await services.history.messages(channel, [ts]);
	if (!message || message.deleted) throw new Rejection('message_not_found', 'timestamp: no such message');
	return message;
}

/** A reaction in a message object; without `full`, it may list only some of its users. */
interface ListedReaction extends JsonObject {
	readonly name: string;
	readonly count: number;
	readonly users: readonly string[];
}

async function withAllUsers(
	{ services }: UserCall,
	channel: string,
	ts: number,
	object: JsonObject,
): Promise<JsonObject> {
	const reactions = (object.reactions as readonly ListedReaction[] | undefined) ?? [];
	if (reactions.every(({ count, users }) => users.length === count)) return object;
	const users = await services.history.reactors(channel, ts, MAX_REACTORS);
	return {
		...object,
		reactions: reactions.map((reaction) => ({
			...reaction,
			// The caller may be among `users` and not among the earliest.
			users: [...new Set([...(users.get(reaction.name) ?? []), ...reaction.users])],
		})),
	};
}

const PAGE = 100;
/** Reactions examined for one page: several may be to one message, and some may not be visible. */
const MAX_EXAMINED = 1000;

export const reactionsList = userMethod({
	arguments: {
		user: optional(type.user),
		limit: type.limit(PAGE),
		count: optional(type.count),
		cursor: type.cursor('next_ts'),
		full: type.flag,
	},
	// `full` reads each message's users as well.
	cost: ({ limit, count, full }) => costOfRows(Math.min(count || limit, type.MAX_PAGE) * (full ? 2 : 1)),
	ignored: ['page', 'team_id'],
	run: async (args, call) => {
		const { services, caller } = call;
		const user = args.user ?? caller.user.id;
		const [person] = await services.directory.users([user]);
		if (person?.team !== caller.team) throw new Rejection('user_not_found', 'user: no such user');
		const limit = Math.min(args.count || args.limit, type.MAX_PAGE);
		const before = args.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(args.cursor);
		const found = await services.history.reactedTo(user, before, MAX_EXAMINED);
		return boundedAnswer(call, async (mostBytes) => {
			const { items, next, isCut } = await itemsOf(call, found, { limit, mostBytes, full: args.full });
			return { answer: { items, ...nextCursor('next_ts', next) }, isCut };
		});
	},
});

/** The messages that the caller may read, each once. */
async function itemsOf(
	call: UserCall,
	found: readonly ReactedMessage[],
	{ limit, mostBytes, full }: { limit: number; mostBytes: number; full: boolean },
) {
	const items: JsonObject[] = [];
	const shown = new Set<string>();
	/** Null: a conversation that the caller may not read. */
	const places = new Map<string, Conversation | null>();
	let room = mostBytes;
	let last: number | null = null;
	for (const { conversation: id, ts, at } of found) {
		if (items.length >= limit) return { items, next: last, isCut: false };
		const key = `${id} ${ts}`;
		let conversation = places.get(id);
		if (conversation === undefined) {
			conversation = await readableOrNull(call, id);
			places.set(id, conversation);
		}
		if (conversation && !shown.has(key)) {
			shown.add(key);
			const [message] = await call.services.history.messages(id, [ts]);
			const live = message && !message.deleted ? [message] : [];
			const { objects: listed } = await messagePage(call, conversation, live, room);
			const objects = full
				? await Promise.all(listed.map((object) => withAllUsers(call, id, ts, object)))
				: listed;
			room -= objects.reduce((sum, object) => sum + Buffer.byteLength(JSON.stringify(object)), 0);
			if (room <= 0 && items.length > 0) return { items, next: last, isCut: true };
			for (const object of objects) items.push({ type: 'message', channel: id, message: object });
		}
		last = at;
	}
	return { items, next: found.length < MAX_EXAMINED ? null : last, isCut: false };
}

import { Rejection } from '../../../model/errors.ts';
import { isFull, type Message } from '../../../model/message.ts';
import { readableConversation } from '../access.ts';
import { boundedAnswer } from '../answer-size.ts';
import * as type from '../argument-types.ts';
import { messagePage, withoutMetadata } from '../message-objects.ts';
import { costOfRows, type UserCall, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';
import { rootAt } from '../threads.ts';
import { pageWindow } from '../window.ts';

/**
 * Returns a thread: its root, then its replies in order. The root counts as the first message of the first page.
 */
export const conversationsReplies = userMethod({
	arguments: {
		channel: type.channel,
		ts: type.ts('thread_not_found'),
		oldest: type.oldest,
		latest: type.latest,
		inclusive: type.flag,
		limit: type.limit(type.MAX_PAGE),
		cursor: type.cursor('next_ts'),
		include_all_metadata: type.flag,
	},
	cost: ({ limit }) => costOfRows(limit),
	run: async (args, call) => {
		const conversation = await readableConversation(call, args.channel);
		const root = await rootOf(call, conversation.id, args.ts);
		const opening = args.cursor === undefined ? [root] : [];
		const room = args.limit - opening.length;
		return boundedAnswer(call, async (mostBytes) => {
			const found = await call.services.history.replies(conversation.id, root.ts, {
				...pageWindow(args, 'forward'),
				limit: room + 1,
				nearest: 'oldest',
				mostBytes,
			});
			const page = [...opening, ...found.slice(0, room)];
			const { objects, isCut } = await messagePage(call, conversation, page, mostBytes);
			const isLarge = isCut || isFull(found, mostBytes);
			const hasMore = isLarge || found.length > room;
			const answer = {
				messages: args.include_all_metadata ? objects : objects.map(withoutMetadata),
				has_more: hasMore,
				...nextCursor('next_ts', hasMore ? (page[objects.length - 1]?.ts ?? null) : null),
			};
			return { answer, isCut: isLarge };
		});
	},
});

/** The root of the thread that this message starts or belongs to; a deleted root only while it has replies. */
async function rootOf({ services }: UserCall, conversation: string, ts: number): Promise<Message> {
	const [message] = await services.history.messages(conversation, [ts]);
	const isReply = message !== undefined && message.threadTs !== null;
	const root = isReply ? await rootOfReply(services, message) : await rootAt(services, conversation, ts);
	if (!root) throw new Rejection('thread_not_found', 'ts: no such thread');
	return root;
}

async function rootOfReply({ history }: UserCall['services'], reply: Message): Promise<Message | undefined> {
	if (reply.deleted || reply.threadTs === null) return undefined;
	const [root] = await history.messages(reply.conversation, [reply.threadTs]);
	return root;
}

import type { ThreadInfo } from '../../engine/ports/store.ts';
import type { Conversation } from '../../model/conversation.ts';
import { bytesOf, type Message } from '../../model/message.ts';
import type { Reaction } from '../../model/reactions.ts';
import { formatTs } from '../../model/ts.ts';
import { authorOf, type JsonObject, wireMessage } from '../../protocol/objects.ts';
import { pinFields } from '../../protocol/pin-events.ts';
import { reactionsField } from '../../protocol/reaction-events.ts';
import { jsonBytes } from './answer-size.ts';
import type { UserCall } from './method.ts';

/** Message objects as history returns them: roots with their thread, replies with their parent. */

export async function messageObjects(
	call: UserCall,
	conversation: Conversation,
	messages: readonly Message[],
): Promise<JsonObject[]> {
	const parents = await parentsOf(call, conversation, messages);
	// Only a broadcast reply shows its root.
	const shown = new Set(messages.filter(({ broadcast }) => broadcast).map(({ threadTs }) => threadTs));
	const roots = [
		...messages.filter((message) => message.threadTs === null),
		...[...parents.values()].filter(({ ts }) => shown.has(ts)),
	];
	const threads = await threadsOf(call, conversation, roots);
	const reactions = await reactionsOf(call, conversation, [...messages, ...roots]);
	const found = await call.services.history.pins(conversation.id);
	const pins = new Map(found.map((pin) => [pin.ts, pin]));
	const rootObject = (root: Message): JsonObject => ({
		...wireMessage(root, conversation.team, threads.get(root.ts)?.info),
		...threads.get(root.ts)?.subscription,
		...reactionsField(reactions.get(root.ts)),
		...pinFields(conversation.id, pins.get(root.ts)),
	});
	return messages.map((message) => {
		if (message.threadTs === null) return rootObject(message);
		const parent = parents.get(message.threadTs);
		return {
			...wireMessage(message, conversation.team),
			...reactionsField(reactions.get(message.ts)),
			...pinFields(conversation.id, pins.get(message.ts)),
			...(parent ? { parent_user_id: authorOf(parent) } : {}),
			...(parent && message.broadcast ? { root: rootObject(parent) } : {}),
		};
	});
}

/** Slack includes metadata only on request. */
export const withoutMetadata = ({ metadata: _metadata, root, ...object }: JsonObject): JsonObject =>
	root === undefined ? object : { ...object, root: withoutMetadata(root as JsonObject) };

export interface MessagePage {
	/** As many of the first messages as fit; at least one. */
	readonly objects: JsonObject[];
	readonly isCut: boolean;
}

/** Broadcast replies include their whole root: at most this many roots are loaded at a time. */
const MAX_PARENTS = 16;

export async function messagePage(
	call: UserCall,
	conversation: Conversation,
	messages: readonly Message[],
	mostBytes: number,
): Promise<MessagePage> {
	const objects: JsonObject[] = [];
	const enough = mostBytes / Math.max(1, messages.length);
	let bytes = 0;
	for (let start = 0; start < messages.length; ) {
		const batch = batchFrom(messages, start);
		for (const [index, object] of (await messageObjects(call, conversation, batch)).entries()) {
			const message = batch[index] as Message;
			// The sizes of an included root and of reactions are unknown here: measure them.
			const textBytes = message.broadcast || object.reactions ? Number.POSITIVE_INFINITY : bytesOf(message);
			bytes += jsonBytes(object, textBytes, enough);
			if (bytes > mostBytes && objects.length > 0) return { objects, isCut: true };
			objects.push(object);
		}
		start += batch.length;
	}
	return { objects, isCut: false };
}

function batchFrom(messages: readonly Message[], start: number): readonly Message[] {
	const parents = new Set<number>();
	for (let end = start; end < messages.length; end += 1) {
		const { threadTs } = messages[end] as Message;
		if (threadTs !== null) parents.add(threadTs);
		if (parents.size > MAX_PARENTS) return messages.slice(start, end);
	}
	return messages.slice(start);
}

async function reactionsOf(
	{ services, caller }: UserCall,
	conversation: Conversation,
	messages: readonly Message[],
): Promise<ReadonlyMap<number, readonly Reaction[]>> {
	const shown = new Set(messages.filter(({ deleted }) => !deleted).map(({ ts }) => ts));
	if (shown.size === 0) return new Map();
	return services.history.reactions(conversation.id, [...shown], caller.user.id);
}

/** The roots of the replies among these messages. */
async function parentsOf(
	{ services }: UserCall,
	conversation: Conversation,
	messages: readonly Message[],
): Promise<ReadonlyMap<number, Message>> {
	const wanted = new Set<number>();
	for (const { threadTs } of messages) if (threadTs !== null) wanted.add(threadTs);
	if (wanted.size === 0) return new Map();
	const found = await services.history.messages(conversation.id, [...wanted]);
	return new Map(found.map((message) => [message.ts, message]));
}

interface ThreadForCaller {
	readonly info: ThreadInfo;
	readonly subscription: JsonObject;
}

async function threadsOf(
	{ services, caller }: UserCall,
	conversation: Conversation,
	roots: readonly Message[],
): Promise<ReadonlyMap<number, ThreadForCaller>> {
	if (roots.length === 0) return new Map();
	const rootTss = [...new Set(roots.map((root) => root.ts))];
	const infos = await services.history.threads(conversation.id, rootTss);
	const threads = infos.map(async (info): Promise<[number, ThreadForCaller]> => {
		const row = await services.readState.thread(caller.user.id, conversation.id, info.threadTs);
		const subscription = row
			? { subscribed: true, last_read: formatTs(row.lastRead), unread_count: row.unread }
			: { subscribed: false };
		return [info.threadTs, { info, subscription }];
	});
	return new Map(await Promise.all(threads));
}

import type { MessageKey } from '../engine/ports/push.ts';
import type { Directory, History, User } from '../engine/ports/store.ts';
import type { Conversation } from '../model/conversation.ts';
import type { Message } from '../model/message.ts';

/** Loads the messages, conversations and users that a batch of notifications needs. */

export interface BatchData {
	message(key: MessageKey): Message | undefined;
	conversation(id: string): Conversation | undefined;
	readonly people: ReadonlyMap<string, User>;
}

export async function loadBatchData(
	keys: readonly MessageKey[],
	{ history, directory }: { readonly history: History; readonly directory: Directory },
): Promise<BatchData> {
	const wanted = new Map<string, Set<number>>();
	for (const { conversation, ts } of keys) {
		const known = wanted.get(conversation);
		if (known) known.add(ts);
		else wanted.set(conversation, new Set([ts]));
	}
	const messages = new Map<string, Message>();
	for (const [conversation, ts] of wanted)
		for (const message of await history.messages(
			conversation,
			[...ts].sort((one, other) => one - other),
		))
			messages.set(keyOf(message), message);
	const ids = new Set([...messages.values()].flatMap(({ user, named }) => [user, ...named]));
	const [conversations, users] = await Promise.all([
		directory.conversations([...wanted.keys()]),
		directory.users([...ids]),
	]);
	const byId = new Map(conversations.map((one) => [one.id, one]));
	return {
		message: (key) => messages.get(keyOf(key)),
		conversation: (id) => byId.get(id),
		people: new Map(users.map((user) => [user.id, user])),
	};
}

const keyOf = ({ conversation, ts }: MessageKey): string => `${conversation} ${ts}`;

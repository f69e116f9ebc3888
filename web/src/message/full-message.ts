import { useClient } from '@tidemark/client/react';
import { useEffect, useMemo, useState } from 'react';
import type { MessageContent } from './content.ts';

/**
 * Loads the blocks and attachments of listed messages. The server lists only texts, so a message without a text is loaded when it is
 * rendered. One request runs at a time, because a list may have many such messages.
 */

let before: Promise<unknown> = Promise.resolve();

/** A message as on the wire. A deleted file has no title. */
interface WireMessage extends Omit<MessageContent, 'files'> {
	readonly ts: string;
	readonly files?: readonly { readonly mode: string; readonly title?: string }[];
}

const contentOf = ({ files = [], ...message }: WireMessage) => ({
	...message,
	files: files.map(({ mode, title = '' }) => ({ isDeleted: mode === 'tombstone', title })),
});

interface Listed {
	readonly channel: string;
	readonly ts: string;
	readonly text: string;
}

export function useFullMessage(listed: Listed | null): MessageContent {
	const client = useClient();
	const { channel = '', ts = '', text = '' } = listed ?? {};
	const [found, setFound] = useState<(MessageContent & { readonly ts: string }) | null>(null);
	const isMissing = ts !== '' && text.trim() === '';
	useEffect(() => {
		if (!isMissing) return;
		let isCurrent = true;
		const ask = async () => {
			if (!isCurrent) return;
			const only = { channel, oldest: ts, latest: ts, inclusive: true, limit: 1 };
			const { messages } = await client.call<{ messages: readonly WireMessage[] }>(
				'conversations.history',
				only,
			);
			if (isCurrent && messages[0]?.ts === ts) setFound(contentOf(messages[0]));
		};
		// If the request fails, the list shows no content for the message.
		before = before.then(ask).catch(() => undefined);
		return () => {
			isCurrent = false;
		};
	}, [client, channel, ts, isMissing]);
	const plain = useMemo(() => ({ text }), [text]);
	return isMissing && found?.ts === ts ? found : plain;
}

import { useClient } from '@tidemark/client/react';
import { useEffect, useMemo, useState } from 'react';
import type { Said } from './said.ts';

/**
 * Lists get a message's text only. A message without text is loaded whole when it comes into sight, one after
 * the other: most messages have a text, and a list of many that have none does not ask for all of them at once.
 */

let before: Promise<unknown> = Promise.resolve();

interface Listed {
	readonly channel: string;
	readonly ts: string;
	readonly text: string;
}

export function useWhole(listed: Listed | null): Said {
	const client = useClient();
	const { channel = '', ts = '', text = '' } = listed ?? {};
	const [found, setFound] = useState<(Said & { readonly ts: string }) | null>(null);
	const isMissing = ts !== '' && text.trim() === '';
	useEffect(() => {
		if (!isMissing) return;
		let isOver = false;
		const ask = async () => {
			if (isOver) return;
			const only = { channel, oldest: ts, latest: ts, inclusive: true, limit: 1 };
			const { messages } = await client.call('conversations.history', only);
			if (!isOver && messages[0]?.ts === ts) setFound(messages[0]);
		};
		// Without an answer the list keeps showing nothing.
		before = before.then(ask).catch(() => undefined);
		return () => {
			isOver = true;
		};
	}, [client, channel, ts, isMissing]);
	const plain = useMemo(() => ({ text }), [text]);
	return isMissing && found?.ts === ts ? found : plain;
}

import { useClient, useSelected } from '@tidemark/client/react';
import { useMemo } from 'react';
import { type MessageContent, wordsOf } from './content.ts';
import { namedIn, plainText } from './plain-text.ts';

export function PlainText({ content }: { readonly content: MessageContent }) {
	const client = useClient();
	const words = useMemo(() => wordsOf(content), [content]);
	return useSelected(({ users }) => {
		for (const id of namedIn(words)) if (!users.has(id)) client.user(id);
		return plainText(words, users);
	});
}

import { useClient, useSelected } from '@tidemark/client/react';
import { plainText } from './plain-text.ts';

const NAMED = /<@([UW][A-Z0-9]+)/g;

export function PlainText({ text }: { readonly text: string }) {
	const client = useClient();
	return useSelected(({ users }) => {
		for (const [, id = ''] of text.matchAll(NAMED)) if (!users.has(id)) client.user(id);
		return plainText(text, users);
	});
}

import { useClient, useSelected } from '@tidemark/client/react';
import { useMemo } from 'react';
import { namedIn, plainText } from './plain-text.ts';
import { type Said, wordsOf } from './said.ts';

export function PlainText({ said }: { readonly said: Said }) {
	const client = useClient();
	const words = useMemo(() => wordsOf(said), [said]);
	return useSelected(({ users }) => {
		for (const id of namedIn(words)) if (!users.has(id)) client.user(id);
		return plainText(words, users);
	});
}

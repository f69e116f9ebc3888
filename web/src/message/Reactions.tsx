import type { Message, Reaction, TidemarkClient } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useState } from 'react';
import { nameOf, useSelf } from '../session/names.ts';
import { toastResult } from '../session/toast.tsx';
import { emojiNamed } from './emoji.ts';

/** The reactions to a message; a click adds or removes the user's own. */
export function Reactions({ message }: { readonly message: Message }) {
	if (message.reactions.length === 0) return null;
	return (
		<ul className="reactions" aria-label="Reactions">
			{message.reactions.map((reaction) => (
				<li key={reaction.name}>
					<Chip message={message} reaction={reaction} />
				</li>
			))}
		</ul>
	);
}

function Chip({ message, reaction }: { readonly message: Message; readonly reaction: Reaction }) {
	const client = useClient();
	const self = useSelf();
	const { name, count, users } = reaction;
	const who = useSelected((snapshot) =>
		users
			.map((id) => (id === self ? 'You' : nameOf(snapshot.users.get(id) ?? client.user(id)) || '…'))
			.join(', '),
	);
	/** The user has reacted in this view, and is not among `users`. */
	const [isUnlisted, setUnlisted] = useState(false);
	const hasUnlisted = count > users.length;
	const isMine = users.includes(self) || (hasUnlisted && isUnlisted);
	const toggle = async (): Promise<void> => {
		const store = client.conversation(message.channel);
		const isAdded = !isMine && (await addReaction(client, message, name));
		// The server lists only the first users of a reaction. If this user is not listed, the answer to `reactions.add` shows it.
		if (isMine || (!isAdded && hasUnlisted)) await store.unreact(message.ts, name);
		setUnlisted(isAdded);
	};
	const others = count > users.length ? ` and ${count - users.length} more` : '';
	const title = `${who}${others} reacted with :${name}:`;
	return (
		<button
			type="button"
			className="reaction"
			aria-pressed={isMine}
			title={title}
			aria-label={`${name}, ${count}. ${title}`}
			onClick={() => toastResult(toggle())}
		>
			<span aria-hidden="true">{emojiOf(name)}</span> {count}
		</button>
	);
}

/** Returns false if the user had reacted already. */
const addReaction = (client: TidemarkClient, { channel, ts }: Message, name: string): Promise<boolean> =>
	client.call('reactions.add', { channel, timestamp: ts, name }).then(
		() => true,
		(error: { code?: string }) => {
			if (error.code !== 'already_reacted') throw error;
			return false;
		},
	);

/** A name may end with `::` and a skin tone, which is not shown. An unknown emoji is shown by its name. */
const emojiOf = (name: string): string => emojiNamed(name.split('::')[0] ?? name) ?? `:${name}:`;

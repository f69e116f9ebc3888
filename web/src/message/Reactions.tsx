import type { Message, Reaction } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
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
	const isMine = users.includes(self);
	const toggle = (): Promise<void> => {
		const store = client.conversation(message.channel);
		return isMine ? store.unreact(message.ts, name) : store.react(message.ts, name);
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

/** A name may end with `::` and a skin tone, which is not shown. An unknown emoji is shown by its name. */
const emojiOf = (name: string): string => emojiNamed(name.split('::')[0] ?? name) ?? `:${name}:`;

import { useSelected } from '@tidemark/client/react';
import { type KeyboardEvent, useId, useMemo, useState } from 'react';
import { conversationName, useSelf } from '../session/names.ts';
import { go, toConversation } from '../session/route.ts';
import { ConversationIcon } from '../sidebar/ConversationIcon.tsx';
import { isUnread } from '../sidebar/sections.ts';
import { Badge } from '../ui/Badge.tsx';
import { Dialog } from '../ui/Dialog.tsx';

const MOST = 12;

/** Goes to a conversation by its name. */
export function SwitcherDialog({ onClose }: { readonly onClose: () => void }) {
	const listId = useId();
	const self = useSelf();
	const conversations = useSelected((snapshot) => snapshot.conversations);
	const users = useSelected((snapshot) => snapshot.users);
	const [wanted, setWanted] = useState('');
	const [chosen, setChosen] = useState(0);
	const found = useMemo(() => {
		const words = wanted.toLowerCase();
		return [...conversations.values()]
			.map((conversation) => ({ conversation, name: conversationName(conversation, users, self) }))
			.filter(({ name }) => name.toLowerCase().includes(words))
			.sort(
				(a, b) =>
					Number(isUnread(b.conversation)) - Number(isUnread(a.conversation)) ||
					(a.conversation.latest < b.conversation.latest ? 1 : -1),
			)
			.slice(0, MOST);
	}, [conversations, users, self, wanted]);
	const open = (id: string | undefined) => {
		if (!id) return;
		onClose();
		go(toConversation(id));
	};
	const onKey = (event: KeyboardEvent) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (step) setChosen((chosen + step + found.length) % Math.max(1, found.length));
		else if (event.key === 'Enter') open(found[chosen]?.conversation.id);
		else return;
		event.preventDefault();
	};
	return (
		<Dialog title="Go to…" onClose={onClose}>
			<input
				className="field"
				type="search"
				placeholder="A channel or a person"
				aria-label="A channel or a person"
				role="combobox"
				aria-expanded
				aria-controls={listId}
				aria-activedescendant={found[chosen] ? `${listId}-${chosen}` : undefined}
				value={wanted}
				onKeyDown={onKey}
				onChange={({ target }) => {
					setWanted(target.value);
					setChosen(0);
				}}
			/>
			<div className="choices" id={listId} role="listbox" aria-label="Conversations">
				{found.map(({ conversation, name }, index) => (
					// biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard chooses from the text box, where the focus stays
					<div
						key={conversation.id}
						id={`${listId}-${index}`}
						role="option"
						tabIndex={-1}
						aria-selected={index === chosen}
						className={isUnread(conversation) ? 'unread' : ''}
						onClick={() => open(conversation.id)}
					>
						<ConversationIcon conversation={conversation} name={name} />
						<span>{name}</span>
						<Badge count={conversation.badgeCount} />
					</div>
				))}
				{found.length === 0 && <p className="hint">No conversation is called that.</p>}
			</div>
		</Dialog>
	);
}

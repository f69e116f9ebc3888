import type { Conversation } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useMemo, useState } from 'react';
import { badgeNoun, conversationName, useSelf } from '../session/names.ts';
import { go, toConversation, toSearch } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { ConversationIcon } from '../sidebar/ConversationIcon.tsx';
import { isUnread } from '../sidebar/sections.ts';
import { Badge } from '../ui/Badge.tsx';
import { type Choice, Chooser } from '../ui/Chooser.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { plural } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Alone, useIsAlone } from './Alone.tsx';
import { findByName, findPeople } from './finding.ts';
import { personChoice } from './person-choice.tsx';
import { type ListedChannel, useChannels } from './useChannels.ts';

const MAX_SHOWN = 20;

/** Goes to a conversation by name, or to the direct message with a person, which is created if necessary. */
export function SwitcherDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const self = useSelf();
	const conversations = useSelected((snapshot) => snapshot.conversations);
	const users = useSelected((snapshot) => snapshot.users);
	const [written, setWritten] = useState('');
	const isAlone = useIsAlone();

	const named = useMemo(
		() =>
			[...conversations.values()]
				.map((conversation) => ({ conversation, name: conversationName(conversation, users, self) }))
				.toSorted(
					(a, b) =>
						Number(isUnread(b.conversation)) - Number(isUnread(a.conversation)) ||
						(a.conversation.latest < b.conversation.latest ? 1 : -1),
				),
		[conversations, users, self],
	);
	const excluded = useMemo(
		() => new Set([self, ...[...conversations.values()].map(({ user }) => user ?? '')]),
		[conversations, self],
	);
	const { channels } = useChannels();
	// Listed only when something is typed: there may be thousands.
	const others = written.trim() === '' ? [] : channels.filter(({ id }) => !conversations.has(id));
	const open = (id: string) => {
		onClose();
		go(toConversation(id));
	};
	const toChoice = ({ conversation, name }: { conversation: Conversation; name: string }): Choice => ({
		key: conversation.id,
		icon: <ConversationIcon conversation={conversation} name={name} />,
		name,
		end: <Badge count={conversation.badgeCount} of={badgeNoun(conversation)} />,
		isStrong: isUnread(conversation),
		run: () => open(conversation.id),
	});
	const channelChoices = (listed: readonly ListedChannel[]): Choice[] =>
		findByName(listed, ({ name }) => name, written)
			.slice(0, MAX_SHOWN)
			.map(({ id, name, memberCount, isArchived }) => ({
				key: id,
				icon: (
					<span className="row-icon">
						<Icon name="hash" />
					</span>
				),
				name,
				hint: isArchived ? 'archived' : plural(memberCount, 'member'),
				run: () => open(id),
			}));
	const searching: Choice = {
		key: 'search',
		icon: (
			<span className="row-icon">
				<Icon name="search" />
			</span>
		),
		name: `Search messages for “${written.trim()}”`,
		run: () => {
			onClose();
			go(toSearch(written.trim()));
		},
	};
	return (
		<Dialog title="Go to…" onClose={onClose} isChooser>
			<Chooser
				label="A channel or a person"
				written={written}
				onWrite={setWritten}
				groups={[
					{
						heading: 'Conversations',
						choices: findByName(named, ({ name }) => name, written)
							.slice(0, MAX_SHOWN)
							.map(toChoice),
					},
					{
						heading: 'People',
						choices: findPeople(users, excluded, written)
							.slice(0, MAX_SHOWN)
							.map((user) => personChoice(user, () => toastResult(client.openDirect([user.id]).then(open)))),
					},
					{
						heading: 'Channels you are not in',
						choices: channelChoices(others.filter((one) => !one.isArchived)),
					},
					{ heading: 'Archived channels', choices: channelChoices(others.filter((one) => one.isArchived)) },
					{ heading: 'Messages', choices: written.trim() === '' ? [] : [searching] },
				]}
				nothing="No matches. To create a channel, use + above your conversations."
			/>
			{isAlone && (
				<footer className="dialog-foot">
					<p className="hint">
						<Alone />
					</p>
				</footer>
			)}
		</Dialog>
	);
}

import type { Conversation, NotificationLevel } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useState } from 'react';
import { AppHomeButton } from '../apps/AppHome.tsx';
import { DetailsDialog, type DetailsPart } from '../dialogs/DetailsDialog.tsx';
import { ExplainDialog } from '../dialogs/ExplainDialog.tsx';
import { LeaveDialog } from '../dialogs/LeaveDialog.tsx';
import { badgeNoun, isChannel, useIsGeneral, useSelf } from '../session/names.ts';
import { usePresence } from '../session/outage.ts';
import { go, toScreen } from '../session/route.ts';
import { setFavourite, useFavourites } from '../session/sidebar-preferences.ts';
import { toastResult } from '../session/toast.tsx';
import { ConversationIcon } from '../sidebar/ConversationIcon.tsx';
import { BackButton } from '../ui/BackButton.tsx';
import { Badge } from '../ui/Badge.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { Icon } from '../ui/icons.tsx';
import { Menu, type MenuItem } from '../ui/Menu.tsx';

interface Props {
	readonly conversation: Conversation;
	readonly name: string;
	readonly onMarkRead: () => void;
}

const LEVELS: readonly (readonly [NotificationLevel, string])[] = [
	['all', 'Notify me about every message'],
	['mentions', 'Notify me about mentions and threads I follow'],
	['none', 'Never notify me'],
];
/** In direct and group messages, the server notifies at the level `mentions` about every message too. */
const DIRECT_LEVELS = LEVELS.filter(([level]) => level !== 'mentions');

const PRESENCE = { active: 'Active', away: 'Away' } as const;

/** Name and topic of the conversation, and the menu of what the user can do with it. */
export function ConversationHead({ conversation, name, onMarkRead }: Props) {
	const client = useClient();
	const store = client.conversation(conversation.id);
	const [isExplaining, setExplaining] = useState(false);
	const [details, setDetails] = useState<DetailsPart | null>(null);
	const [isLeaving, setLeaving] = useState(false);
	const self = useSelf();
	const isGeneral = useIsGeneral(conversation);
	const isFavourite = useFavourites(self).has(conversation.id);
	const { kind, isMuted, badgeCount, topic, user, notificationLevel } = conversation;
	const presence = usePresence(user ?? '');
	const levels = isChannel(conversation) ? LEVELS : DIRECT_LEVELS;
	const chosenLevel = levels.some(([level]) => level === notificationLevel) ? notificationLevel : 'all';
	const items: MenuItem[] = [
		{ label: 'Mark as read', hint: 'Esc', run: onMarkRead },
		...(badgeCount > 0 ? [{ label: 'Why is there a badge?', run: () => setExplaining(true) }] : []),
		{
			label: isFavourite ? 'Remove from favourites' : 'Add to favourites',
			run: () => setFavourite(client, self, conversation.id, !isFavourite),
		},
		{ label: isMuted ? 'Unmute' : 'Mute', run: () => toastResult(store.setMuted(!isMuted)) },
		...levels.map(([level, label]) => ({
			label,
			isChosen: level === chosenLevel,
			run: () => toastResult(store.setNotifications(level)),
		})),
		...(isChannel(conversation)
			? [
					{ label: 'Add people…', run: () => setDetails('add') },
					{ label: 'Edit the topic…', run: () => setDetails('topic') },
					{ label: 'Rename…', run: () => setDetails('name') },
				]
			: []),
		...(isChannel(conversation) && !isGeneral
			? [
					{ label: 'Archive…', run: () => setDetails('archive') },
					{
						label: 'Leave',
						isDangerous: true,
						run: () =>
							kind === 'private'
								? setLeaving(true)
								: toastResult(store.leave().then(() => go(toScreen('inbox')))),
					},
				]
			: []),
	];
	return (
		<header className="pane-head">
			<BackButton />
			<ConversationIcon conversation={conversation} name={name} />
			<div className="pane-title">
				<h1 dir="auto">{name}</h1>
				{user ? presence && <p>{PRESENCE[presence]}</p> : topic && <p dir="auto">{topic}</p>}
			</div>
			{isMuted && (
				<span className="hint" title="Muted">
					<Icon name="muted" /> Muted
				</span>
			)}
			{badgeCount > 0 && (
				<button type="button" className="why" onClick={() => setExplaining(true)}>
					<Badge count={badgeCount} of={badgeNoun(conversation)} />
					<span>Why?</span>
				</button>
			)}
			{user && <AppHomeButton bot={user} />}
			{kind !== 'im' && <IconButton icon="people" label="Members" onClick={() => setDetails('members')} />}
			<Menu label="Settings of this conversation" items={items}>
				<Icon name="more" />
			</Menu>
			{details && (
				<DetailsDialog
					conversation={conversation}
					name={name}
					part={details}
					onClose={() => setDetails(null)}
				/>
			)}
			{isLeaving && <LeaveDialog conversation={conversation} onClose={() => setLeaving(false)} />}
			{isExplaining && (
				<ExplainDialog conversation={conversation} name={name} onClose={() => setExplaining(false)} />
			)}
		</header>
	);
}

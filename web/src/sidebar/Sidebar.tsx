import type { Conversation } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import type { KeyboardEvent } from 'react';
import type { DialogName } from '../dialogs/Dialogs.tsx';
import type { Route } from '../session/route.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { ConversationList } from './ConversationList.tsx';
import { Me } from './Me.tsx';
import { ScreenLinks } from './ScreenLinks.tsx';

interface Props {
	readonly route: Route;
	/** See opened-conversation.ts. */
	readonly opened: Conversation | null;
	readonly onDialog: (name: DialogName) => void;
	readonly onSignOut: () => void;
}

export function Sidebar({ route, opened, onDialog, onSignOut }: Props) {
	const team = useSelected((snapshot) => snapshot.team?.name ?? '');
	return (
		<nav className="sidebar" aria-label="Conversations" onKeyDown={walkRows}>
			<header className="side-head">
				<h1 dir="auto">{team}</h1>
				<IconButton icon="go" label="Go to… (Ctrl K)" onClick={() => onDialog('switcher')} />
				<IconButton icon="plus" label="New conversation" onClick={() => onDialog('new')} />
			</header>
			<ScreenLinks current={route.screen} />
			<ConversationList opened={opened} />
			<Me onDialog={onDialog} onSignOut={onSignOut} />
		</nav>
	);
}

/** Arrow keys move between rows; Tab leaves the list. */
function walkRows(event: KeyboardEvent<HTMLElement>): void {
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
	const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.side-row, .side-heading button')];
	const at = rows.indexOf(document.activeElement as HTMLElement);
	const next = at < 0 ? undefined : rows[at + step];
	if (!next) return;
	event.preventDefault();
	next.focus();
}

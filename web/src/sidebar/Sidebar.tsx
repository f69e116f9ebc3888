import type { Conversation } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import type { DialogName } from '../dialogs/Dialogs.tsx';
import type { Route } from '../session/route.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { ConversationList } from './ConversationList.tsx';
import { Me } from './Me.tsx';
import { Places } from './Places.tsx';

interface Props {
	readonly route: Route;
	/** See held.ts. */
	readonly held: Conversation | null;
	readonly onDialog: (name: DialogName) => void;
	readonly onSignOut: () => void;
}

export function Sidebar({ route, held, onDialog, onSignOut }: Props) {
	const team = useSelected((snapshot) => snapshot.team?.name ?? '');
	return (
		<nav className="sidebar" aria-label="Conversations">
			<header className="side-head">
				<h1>{team}</h1>
				<IconButton icon="search" label="Go to… (Ctrl K)" onClick={() => onDialog('switcher')} />
				<IconButton icon="plus" label="New conversation" onClick={() => onDialog('new')} />
			</header>
			<Places current={route.place} />
			<ConversationList held={held} />
			<Me onDialog={onDialog} onSignOut={onSignOut} />
		</nav>
	);
}

import { useSelected } from '@tidemark/client/react';
import type { DialogName } from '../dialogs/Dialogs.tsx';
import type { Route } from '../session/route.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { ConversationList } from './ConversationList.tsx';
import { Me } from './Me.tsx';
import { Places } from './Places.tsx';

interface Props {
	readonly route: Route;
	readonly onDialog: (name: DialogName) => void;
	readonly onSignOut: () => void;
}

export function Sidebar({ route, onDialog, onSignOut }: Props) {
	const team = useSelected((snapshot) => snapshot.team?.name ?? '');
	const current = route.place === 'conversation' ? route.id : null;
	return (
		<nav className="sidebar" aria-label="Conversations">
			<header className="side-head">
				<h1>{team}</h1>
				<IconButton icon="search" label="Go to… (Ctrl K)" onClick={() => onDialog('switcher')} />
				<IconButton icon="plus" label="New conversation" onClick={() => onDialog('new')} />
			</header>
			<Places current={route.place} />
			<ConversationList current={current} />
			<Me onDialog={onDialog} onSignOut={onSignOut} />
		</nav>
	);
}

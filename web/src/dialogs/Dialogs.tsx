import { NotificationsDialog } from '../notifications/NotificationsDialog.tsx';
import { KeysDialog } from './KeysDialog.tsx';
import { NewDialog } from './NewDialog.tsx';
import { ProfileDialog } from './ProfileDialog.tsx';
import { SessionsDialog } from './SessionsDialog.tsx';
import { SignOutDialog } from './SignOutDialog.tsx';
import { SwitcherDialog } from './SwitcherDialog.tsx';

export type DialogName = 'switcher' | 'new' | 'keys' | 'notifications' | 'profile' | 'sessions' | 'sign-out';

interface Props {
	readonly name: DialogName | null;
	readonly onClose: () => void;
	readonly onSignOut: (revoke: boolean) => void;
}

export function Dialogs({ name, onClose, onSignOut }: Props) {
	switch (name) {
		case 'switcher':
			return <SwitcherDialog onClose={onClose} />;
		case 'new':
			return <NewDialog onClose={onClose} />;
		case 'keys':
			return <KeysDialog onClose={onClose} />;
		case 'notifications':
			return <NotificationsDialog onClose={onClose} />;
		case 'profile':
			return <ProfileDialog onClose={onClose} />;
		case 'sessions':
			return <SessionsDialog onClose={onClose} />;
		case 'sign-out':
			return <SignOutDialog onClose={onClose} onSignOut={onSignOut} />;
		default:
			return null;
	}
}

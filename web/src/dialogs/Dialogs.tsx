import { NotificationsDialog } from '../notifications/NotificationsDialog.tsx';
import { KeysDialog } from './KeysDialog.tsx';
import { NewDialog } from './NewDialog.tsx';
import { SwitcherDialog } from './SwitcherDialog.tsx';

export type DialogName = 'switcher' | 'new' | 'keys' | 'notifications';

interface Props {
	readonly name: DialogName | null;
	readonly onClose: () => void;
}

export function Dialogs({ name, onClose }: Props) {
	switch (name) {
		case 'switcher':
			return <SwitcherDialog onClose={onClose} />;
		case 'new':
			return <NewDialog onClose={onClose} />;
		case 'keys':
			return <KeysDialog onClose={onClose} />;
		case 'notifications':
			return <NotificationsDialog onClose={onClose} />;
		default:
			return null;
	}
}

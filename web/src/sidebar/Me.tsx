import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import type { DialogName } from '../dialogs/Dialogs.tsx';
import { useSelf, useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { currentTheme, toggleTheme } from '../session/theme.ts';
import { showToast } from '../session/toast.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { Icon } from '../ui/icons.tsx';
import { Menu } from '../ui/Menu.tsx';

interface Props {
	readonly onDialog: (name: DialogName) => void;
	readonly onSignOut: () => void;
}

/** Who one is here, and what concerns only oneself. */
export function Me({ onDialog, onSignOut }: Props) {
	const client = useClient();
	const self = useSelf();
	const name = useUserName(self);
	const presence = useSelected((snapshot) => snapshot.presence.get(self));
	const [theme, setTheme] = useState(currentTheme);
	useEffect(() => (self ? client.watchPresence([self]) : undefined), [client, self]);
	const isAway = presence === 'away';
	return (
		<footer className="side-me">
			<PersonAvatar id={self} name={name} size="small" presence={presence} />
			<span className="side-name">
				{name}
				<small>{isAway ? 'Away' : 'Active'}</small>
			</span>
			<IconButton
				icon={theme === 'dark' ? 'sun' : 'moon'}
				label={theme === 'dark' ? 'Light colours' : 'Dark colours'}
				onClick={() => setTheme(toggleTheme())}
			/>
			<Menu
				label="More"
				items={[
					{
						label: isAway ? 'Set yourself active' : 'Set yourself away',
						run: () => showToast(client.setPresence(isAway ? 'auto' : 'away')),
					},
					{
						label: 'Mark everything as read',
						hint: 'Shift Esc',
						run: () => showToast(client.markAll(), 'Everything is marked as read.'),
					},
					{ label: 'Notifications', run: () => onDialog('notifications') },
					{ label: 'Your photo', run: () => onDialog('photo') },
					{ label: 'Your devices', run: () => onDialog('sessions') },
					{ label: 'Keyboard shortcuts', hint: '?', run: () => onDialog('keys') },
					{ label: 'See two devices side by side', run: () => location.assign('/devices') },
					{ label: 'Sign out', run: onSignOut },
				]}
			>
				<Icon name="more" />
			</Menu>
		</footer>
	);
}

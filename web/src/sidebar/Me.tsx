import { useClient } from '@tidemark/client/react';
import { useEffect } from 'react';
import type { DialogName } from '../dialogs/Dialogs.tsx';
import { useSelf, useUserName } from '../session/names.ts';
import { useIsOutage, usePresence } from '../session/outage.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { ThemeButton } from '../session/ThemeButton.tsx';
import { toastResult } from '../session/toast.tsx';
import { Icon } from '../ui/icons.tsx';
import { Menu } from '../ui/Menu.tsx';

interface Props {
	readonly onDialog: (name: DialogName) => void;
	readonly onSignOut: () => void;
}

/** The signed-in user, and the menu for their account. */
export function Me({ onDialog, onSignOut }: Props) {
	const client = useClient();
	const self = useSelf();
	const name = useUserName(self);
	const presence = usePresence(self);
	const isOutage = useIsOutage();
	useEffect(() => (self ? client.watchPresence([self]) : undefined), [client, self]);
	const isAway = presence === 'away';
	return (
		<footer className="side-me">
			<PersonAvatar id={self} name={name} size="small" presence={presence} />
			<span className="side-name">
				{name}
				<small>{isOutage ? 'Offline' : isAway ? 'Away' : 'Active'}</small>
			</span>
			<ThemeButton />
			<Menu
				label="More"
				items={[
					{
						label: isAway ? 'Set yourself active' : 'Set yourself away',
						run: () => toastResult(client.setPresence(isAway ? 'auto' : 'away')),
					},
					{
						label: 'Mark everything as read',
						hint: 'Shift Esc',
						run: () => toastResult(client.markAll(), 'Everything is marked as read.'),
					},
					{ label: 'Notifications', run: () => onDialog('notifications') },
					{ label: 'Your profile', run: () => onDialog('profile') },
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

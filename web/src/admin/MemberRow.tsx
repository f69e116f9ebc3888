import { Avatar } from '../ui/Avatar.tsx';
import { Icon } from '../ui/icons.tsx';
import { Menu } from '../ui/Menu.tsx';
import type { Member } from './calls.ts';

interface Props {
	readonly member: Member;
	readonly onInvite: () => void;
	readonly onToken: () => void;
	readonly onSignOut: () => void;
	readonly onActive: (isActive: boolean) => void;
}

export function MemberRow({ member, onInvite, onToken, onSignOut, onActive }: Props) {
	const { id, name, real_name, deleted, is_bot } = member;
	const signIn = is_bot
		? { label: 'Create a token', run: onToken }
		: { label: 'Create a sign-in link', run: onInvite };
	return (
		<li className={deleted ? 'gone' : ''}>
			<Avatar id={id} name={real_name || name} />
			<span className="admin-member">
				<strong dir="auto">{real_name || name}</strong>
				<small className="hint">
					<bdi>@{name}</bdi> · {id}
					{is_bot ? ' · bot' : ''}
					{deleted ? ' · deactivated' : ''}
				</small>
			</span>
			<Menu
				label={`Actions for ${name}`}
				items={
					deleted
						? [{ label: 'Reactivate', run: () => onActive(true) }]
						: [
								signIn,
								{ label: 'Sign out everywhere', run: onSignOut },
								{ label: 'Deactivate', isDangerous: true, run: () => onActive(false) },
							]
				}
			>
				<Icon name="more" />
			</Menu>
		</li>
	);
}

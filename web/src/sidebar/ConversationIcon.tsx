import type { Conversation } from '@tidemark/client';
import { usePresence } from '../session/outage.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { Icon } from '../ui/icons.tsx';

interface Props {
	readonly conversation: Conversation;
	readonly name: string;
}

/** The icon of a channel, or the avatar of the person in a direct message. */
export function ConversationIcon({ conversation, name }: Props) {
	const { kind, user } = conversation;
	if (kind === 'im') return <DirectIcon user={user ?? ''} name={name} />;
	return (
		<span className="row-icon">
			<Icon name={kind === 'mpim' ? 'people' : kind === 'private' ? 'lock' : 'hash'} />
		</span>
	);
}

const DirectIcon = ({ user, name }: { readonly user: string; readonly name: string }) => (
	<PersonAvatar id={user} name={name} size="small" presence={usePresence(user)} />
);

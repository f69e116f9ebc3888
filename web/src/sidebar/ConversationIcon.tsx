import type { Conversation } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { Icon } from '../ui/icons.tsx';

interface Props {
	readonly conversation: Conversation;
	readonly name: string;
}

/** The icon of a channel, or the avatar of the person in a direct message. */
export function ConversationIcon({ conversation, name }: Props) {
	const { kind, user } = conversation;
	const presence = useSelected((snapshot) => (user ? snapshot.presence.get(user) : undefined));
	if (kind === 'im')
		return <PersonAvatar id={user ?? ''} name={name} size="small" presence={presence ?? 'away'} />;
	return (
		<span className="row-icon">
			<Icon name={kind === 'mpim' ? 'people' : kind === 'private' ? 'lock' : 'hash'} />
		</span>
	);
}

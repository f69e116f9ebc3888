import { useSelected } from '@tidemark/client/react';
import { Avatar, type AvatarProps } from '../ui/Avatar.tsx';

/** Of a person in this workspace, with the photo where it is known. */
export function PersonAvatar(props: Omit<AvatarProps, 'photo'>) {
	const photo = useSelected(({ users }) => users.get(props.id)?.photo ?? null);
	return <Avatar {...props} photo={photo && pathOf(photo)} />;
}

/** It is served by the server that serves this page, however that knows itself. */
const pathOf = (address: string): string | null => (URL.canParse(address) ? new URL(address).pathname : null);

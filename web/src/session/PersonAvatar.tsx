import { useSelected } from '@tidemark/client/react';
import { Avatar, type AvatarProps } from '../ui/Avatar.tsx';

/** The avatar of a user: the photo if it is loaded, otherwise initials. */
export function PersonAvatar(props: Omit<AvatarProps, 'photo'>) {
	const photo = useSelected(({ users }) => users.get(props.id)?.photo ?? null);
	return <Avatar {...props} photo={photo && pathOf(photo)} />;
}

/** The address without its host: behind a proxy, the profile may name a host that this browser cannot reach. */
const pathOf = (address: string): string | null => (URL.canParse(address) ? new URL(address).pathname : null);

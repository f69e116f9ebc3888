import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';

/** A channel that the user can find, joined or not. */
export interface ListedChannel {
	readonly id: string;
	readonly name: string;
	readonly isMember: boolean;
	readonly isArchived: boolean;
	readonly memberCount: number;
}

interface WireChannel {
	readonly id: string;
	readonly name: string;
	readonly is_member: boolean;
	readonly is_archived: boolean;
	readonly num_members?: number;
}

interface Page {
	readonly channels: readonly WireChannel[];
	readonly response_metadata?: { readonly next_cursor?: string };
}

const listedOf = ({ id, name, is_member, is_archived, num_members = 0 }: WireChannel): ListedChannel => ({
	id,
	name,
	isMember: is_member,
	isArchived: is_archived,
	memberCount: num_members,
});

/**
 * All channels that the user can find: public ones and the user's private ones, including archived ones. Loads page after page
 * while the component is mounted.
 */
export function useChannels(): { readonly channels: readonly ListedChannel[]; readonly isFailed: boolean } {
	const client = useClient();
	const [channels, setChannels] = useState<readonly ListedChannel[]>([]);
	const [isFailed, setFailed] = useState(false);
	useEffect(() => {
		let isCurrent = true;
		const load = async () => {
			let cursor = '';
			do {
				const page: Page = await client.call<Page>('conversations.list', {
					types: 'public_channel,private_channel',
					limit: 200,
					...(cursor ? { cursor } : {}),
				});
				if (!isCurrent) return;
				setChannels((before) => [...before, ...page.channels.map(listedOf)]);
				cursor = page.response_metadata?.next_cursor ?? '';
			} while (cursor !== '');
		};
		load().catch(() => isCurrent && setFailed(true));
		return () => {
			isCurrent = false;
		};
	}, [client]);
	return { channels, isFailed };
}

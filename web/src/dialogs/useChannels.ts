import type { BrowsedChannel } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';

/** Every public channel of the workspace, page after page for as long as somebody looks. */
export function useChannels(): { readonly channels: readonly BrowsedChannel[]; readonly isFailed: boolean } {
	const client = useClient();
	const [channels, setChannels] = useState<readonly BrowsedChannel[]>([]);
	const [isFailed, setFailed] = useState(false);
	useEffect(() => {
		let isOver = false;
		const load = async () => {
			let cursor = '';
			do {
				const page = await client.browse(cursor);
				if (isOver) return;
				setChannels((before) => [...before, ...page.channels]);
				cursor = page.cursor;
			} while (cursor !== '');
		};
		load().catch(() => !isOver && setFailed(true));
		return () => {
			isOver = true;
		};
	}, [client]);
	return { channels, isFailed };
}

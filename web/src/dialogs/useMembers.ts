import { ApiError } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { loadEverybody } from '../session/load-everybody.ts';

/** The members of a conversation: the first page, further pages on request, and the total. */

export interface ConversationMembers {
	/** Null: not loaded yet. */
	readonly members: readonly string[] | null;
	readonly total: number;
	readonly hasMore: boolean;
	readonly error: string | null;
	loadMore(): void;
	add(user: string): Promise<void>;
}

export function useMembers(id: string): ConversationMembers {
	const client = useClient();
	const store = client.conversation(id);
	const [members, setMembers] = useState<readonly string[] | null>(null);
	const [counted, setCounted] = useState(0);
	const [cursor, setCursor] = useState('');
	const [error, setError] = useState<string | null>(null);
	const isLoadingMore = useRef(false);
	const fail = useCallback(
		(reason: unknown) => setError(reason instanceof ApiError ? reason.code : 'network_error'),
		[],
	);
	useEffect(() => {
		let isCurrent = true;
		const load = async () => {
			const [page, { channel }] = await Promise.all([
				store.members(),
				client.call('conversations.info', { channel: id, include_num_members: true }),
				// Loads the names of all users in pages, instead of one request per member.
				loadEverybody(client),
			]);
			if (!isCurrent) return;
			setMembers(page.members);
			setCursor(page.cursor);
			setCounted(channel.num_members ?? 0);
		};
		load().catch((reason) => isCurrent && fail(reason));
		return () => {
			isCurrent = false;
		};
	}, [client, store, id, fail]);

	const append = (more: readonly string[]) =>
		// A person who was added here is also on a later page.
		setMembers((before) => [...new Set([...(before ?? []), ...more])]);
	const loadMore = () => {
		if (isLoadingMore.current) return;
		isLoadingMore.current = true;
		store
			.members(cursor)
			.finally(() => {
				isLoadingMore.current = false;
			})
			.then((page) => {
				append(page.members);
				setCursor(page.cursor);
			}, fail);
	};
	const add = async (user: string): Promise<void> => {
		await store.invite([user]);
		append([user]);
		setCounted((before) => before + 1);
	};
	return {
		members,
		total: cursor === '' ? (members?.length ?? 0) : counted,
		hasMore: cursor !== '',
		error,
		loadMore,
		add,
	};
}

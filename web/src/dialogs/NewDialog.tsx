import { ApiError, type BrowsedChannel } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { everybody } from '../session/everybody.ts';
import { nameOf, useSelf } from '../session/names.ts';
import { go, toConversation } from '../session/route.ts';
import { Avatar } from '../ui/Avatar.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { plural } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { sayError } from '../ui/states.tsx';

const MOST_PEOPLE = 50;

/** A person to write to, a channel to join, or a new channel. */
export function NewDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const self = useSelf();
	const users = useSelected((snapshot) => snapshot.users);
	const [channels, setChannels] = useState<readonly BrowsedChannel[]>([]);
	const [wanted, setWanted] = useState('');
	const [error, setError] = useState<string | null>(null);
	useEffect(() => {
		void everybody(client);
		client.browse().then(
			(page) => setChannels(page.channels),
			() => setError('network_error'),
		);
	}, [client]);

	const open = async (work: () => Promise<string>) => {
		try {
			const id = await work();
			onClose();
			go(toConversation(id));
		} catch (reason) {
			setError(reason instanceof ApiError ? reason.code : 'network_error');
		}
	};
	const words = wanted.trim().toLowerCase();
	const people = [...users.values()]
		.filter(
			(user) =>
				user.id !== self && !user.isDeleted && `${user.name} ${user.realName}`.toLowerCase().includes(words),
		)
		.slice(0, MOST_PEOPLE);
	const joinable = channels.filter(({ name, isMember }) => !isMember && name.includes(words));
	const isNewName = /^[a-z0-9_-]{1,80}$/.test(words) && !channels.some(({ name }) => name === words);
	return (
		<Dialog title="New conversation" onClose={onClose}>
			<input
				className="field"
				type="search"
				aria-label="A person, or the name of a channel"
				placeholder="A person, or the name of a channel"
				value={wanted}
				onChange={({ target }) => setWanted(target.value)}
			/>
			{error && <p role="alert">{sayError(error)}</p>}
			<div className="choices">
				{isNewName && (
					<button type="button" onClick={() => open(() => client.createChannel(words))}>
						<Icon name="plus" /> Create the channel <strong>#{words}</strong>
					</button>
				)}
				{joinable.map(({ id, name, memberCount }) => (
					<button
						key={id}
						type="button"
						onClick={() =>
							open(async () => {
								await client.join(id);
								return id;
							})
						}
					>
						<Icon name="hash" /> {name}
						<span className="hint">join, {plural(memberCount, 'member')}</span>
					</button>
				))}
				{people.map((user) => (
					<button key={user.id} type="button" onClick={() => open(() => client.openDirect([user.id]))}>
						<Avatar id={user.id} name={nameOf(user)} size="small" /> {nameOf(user)}
						<span className="hint">@{user.name}</span>
					</button>
				))}
			</div>
		</Dialog>
	);
}

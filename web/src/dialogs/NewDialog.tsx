import { ApiError } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useState } from 'react';
import { useSelf } from '../session/names.ts';
import { go, toConversation } from '../session/route.ts';
import { type Choice, Chooser } from '../ui/Chooser.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { plural } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { errorText } from '../ui/states.tsx';
import { Alone, useIsAlone } from './Alone.tsx';
import { channelNameFrom, nameProblem } from './channel-name.ts';
import { findByName, findPeople } from './finding.ts';
import { personChoice } from './person-choice.tsx';
import { type ListedChannel, useChannels } from './useChannels.ts';

const MAX_SHOWN = 50;

function hintFor({ isMember, isArchived, memberCount }: ListedChannel): string {
	if (isArchived)
		return isMember ? 'archived: open it to unarchive it' : 'archived: a member can unarchive it';
	return isMember ? 'you are a member' : `${plural(memberCount, 'member')}, not joined`;
}

/** Finds a person to write to or a channel to join, or creates a channel. */
export function NewDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const self = useSelf();
	const users = useSelected((snapshot) => snapshot.users);
	const { channels, isFailed } = useChannels();
	const [written, setWritten] = useState('');
	const [isPrivate, setPrivate] = useState(false);
	const [error, setError] = useState<string | null>(null);
	const isAlone = useIsAlone();

	const open = async (work: Promise<string>) => {
		try {
			const id = await work;
			onClose();
			go(toConversation(id));
		} catch (reason) {
			setError(reason instanceof ApiError ? reason.code : 'network_error');
		}
	};
	const toChoice = (channel: ListedChannel): Choice => {
		const { id, name, isMember, isArchived } = channel;
		const isOpenable = isMember || isArchived;
		return {
			key: id,
			icon: <RowIcon name="hash" />,
			name,
			hint: hintFor(channel),
			run: () => void open(isOpenable ? Promise.resolve(id) : client.join(id).then(() => id)),
		};
	};
	const name = channelNameFrom(written);
	// The user's own channels and archived ones appear only once something is typed: they show that the name is taken.
	const listed = channels.filter(({ isMember, isArchived }) => name !== '' || (!isMember && !isArchived));
	const problem = nameProblem(name);
	const isNew = problem === null && !channels.some((channel) => channel.name === name);
	const creation: Choice = {
		key: 'create',
		icon: <RowIcon name={isPrivate ? 'lock' : 'plus'} />,
		name: (
			<>
				Create the {isPrivate ? 'private channel' : 'channel'} <strong>#{name}</strong>
			</>
		),
		run: () => void open(client.createChannel(name, { isPrivate })),
	};
	return (
		<Dialog title="New conversation" onClose={onClose} isChooser>
			<Chooser
				label="A person, or the name of a channel"
				written={written}
				onWrite={(text) => {
					setWritten(text);
					setError(null);
				}}
				groups={[
					{
						heading: 'People',
						choices: findPeople(users, new Set([self]), written)
							.slice(0, MAX_SHOWN)
							.map((user) => personChoice(user, () => void open(client.openDirect([user.id])))),
					},
					{
						heading: 'Channels',
						choices: findByName(listed, (channel) => channel.name, name)
							.slice(0, MAX_SHOWN)
							.map(toChoice),
					},
					{ heading: 'A new channel', choices: isNew ? [creation] : [] },
				]}
				nothing={
					written.trim() === '' ? (
						isAlone ? (
							<Alone />
						) : (
							'People to write to and channels to join appear here.'
						)
					) : (
						<>No matches. {problem && errorText(problem)}</>
					)
				}
			/>
			<footer className="dialog-foot">
				{error || isFailed ? (
					<p className="rejection" role="alert">
						{errorText(error ?? 'network_error')}
					</p>
				) : isNew ? (
					<label className="switch">
						<input
							type="checkbox"
							checked={isPrivate}
							onChange={({ target }) => setPrivate(target.checked)}
							onKeyDown={({ key }) => key === 'Enter' && creation.run()}
						/>
						Private: only invited people can find and read it
					</label>
				) : (
					<p className="hint">To create a channel, type a name that no channel has yet.</p>
				)}
			</footer>
		</Dialog>
	);
}

const RowIcon = ({ name }: { readonly name: 'hash' | 'lock' | 'plus' }) => (
	<span className="row-icon">
		<Icon name={name} />
	</span>
);

import { createClient, type TidemarkClient } from '@tidemark/client';
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { Avatar } from '../ui/Avatar.tsx';
import { Icon } from '../ui/icons.tsx';

interface Props {
	readonly token: string;
	readonly friend: string;
}

interface Person {
	readonly id: string;
	readonly name: string;
}

interface Scene {
	readonly me: Person;
	readonly friend: Person;
	readonly channels: readonly { readonly id: string; readonly name: string }[];
}

/** The user of a token, with the name that the interface shows. */
async function personOf(client: TidemarkClient): Promise<Person> {
	const { user_id: id } = await client.call('auth.test');
	const { user } = await client.call('users.info', { user: id });
	return { id, name: user.real_name || user.name };
}

/** A form that posts as another person, so that the user has something to read. */
export function Friend({ token, friend }: Props) {
	const client = useMemo(() => createClient({ token: friend }), [friend]);
	const [scene, setScene] = useState<Scene | null>(null);
	const [text, setText] = useState('Have you seen this?');
	const [channel, setChannel] = useState('');
	const [status, setStatus] = useState('');

	useEffect(() => {
		const me = createClient({ token });
		Promise.all([personOf(me), personOf(client), me.browse(), client.browse()]).then(
			([mine, theirs, ours, { channels }]) => {
				// Only channels that both people are in: the user does not see the others.
				const isMine = new Set(ours.channels.filter(({ isMember }) => isMember).map(({ id }) => id));
				setScene({
					me: mine,
					friend: theirs,
					channels: channels
						.filter(({ id, isMember }) => isMember && isMine.has(id))
						.toSorted((a, b) => a.name.localeCompare(b.name)),
				});
			},
			() =>
				setStatus(
					'The friend could not be signed in. Copy the link again from the output of the server, and open it.',
				),
		);
	}, [client, token]);

	if (!scene) return <p className="friend">{status}</p>;
	const post = async (event: FormEvent) => {
		event.preventDefault();
		const submitter = (event.nativeEvent as SubmitEvent).submitter as HTMLButtonElement | null;
		const isMention = submitter?.value === 'mention';
		try {
			const target = channel || scene.channels[0]?.id || (await client.openDirect([scene.me.id]));
			const posted = isMention ? `<@${scene.me.id}> ${text}` : text;
			await client.call('chat.postMessage', { channel: target, text: posted });
			setStatus(isMention ? `Sent, with a mention of ${scene.me.name}.` : 'Sent.');
		} catch {
			setStatus('The message was not sent. Try again.');
		}
	};
	return (
		<form className="friend" onSubmit={post} aria-label={`Write as ${scene.friend.name}`}>
			<Avatar id={scene.friend.id} name={scene.friend.name} />
			<strong>{scene.friend.name} writes</strong>
			<input
				className="field"
				aria-label="Message"
				value={text}
				onChange={({ target }) => setText(target.value)}
			/>
			<label>
				in{' '}
				<select
					className="field"
					value={channel || scene.channels[0]?.id}
					onChange={({ target }) => setChannel(target.value)}
				>
					{scene.channels.map(({ id, name }) => (
						<option key={id} value={id}>
							#{name}
						</option>
					))}
				</select>
			</label>
			<button type="submit" className="button" value="plain" disabled={text.trim() === ''}>
				Send
			</button>
			<button type="submit" className="button primary" value="mention" disabled={text.trim() === ''}>
				<Icon name="at" /> Send and mention {scene.me.name}
			</button>
			<span className="hint" role="status">
				{status}
			</span>
		</form>
	);
}

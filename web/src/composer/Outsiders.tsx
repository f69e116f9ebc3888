import type { TidemarkClient, User } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { everybody } from '../session/everybody.ts';
import { isChannel, nameOf } from '../session/names.ts';
import { showToast } from '../session/toast.tsx';
import { namesIn } from './wire-text.ts';

/** Larger channels have too many members to load for this, so they show no warning. */
const MAX_PAGES = 3;
const WAIT_MS = 400;

async function membersOf(client: TidemarkClient, channel: string): Promise<ReadonlySet<string> | null> {
	const all = new Set<string>();
	let cursor = '';
	for (let page = 0; page < MAX_PAGES; page += 1) {
		const answer = await client.conversation(channel).members(cursor || undefined);
		for (const member of answer.members) all.add(member);
		cursor = answer.cursor;
		if (cursor === '') return all;
	}
	return null;
}

/** Warns about mentioned people who are not in the channel: they would not be notified. */
export function Outsiders({ channel, text }: { readonly channel: string; readonly text: string }) {
	const client = useClient();
	const conversation = useSelected(({ conversations }) => conversations.get(channel) ?? null);
	const [outsiders, setOutsiders] = useState<readonly User[]>([]);
	const names = namesIn(text).join(' ');
	const isNeeded = names !== '' && isChannel(conversation);
	useEffect(() => {
		if (!isNeeded) {
			setOutsiders([]);
			return;
		}
		let isCurrent = true;
		const look = async () => {
			await everybody(client);
			const wanted = new Set(names.toLowerCase().split(' '));
			const named = [...client.getSnapshot().users.values()].filter(
				({ name, isDeleted }) => !isDeleted && wanted.has(name.toLowerCase()),
			);
			const members = named.length > 0 ? await membersOf(client, channel) : null;
			if (isCurrent) setOutsiders(members ? named.filter(({ id }) => !members.has(id)) : []);
		};
		const timer = setTimeout(() => look().catch(() => undefined), WAIT_MS);
		return () => {
			isCurrent = false;
			clearTimeout(timer);
		};
	}, [client, channel, names, isNeeded]);
	if (outsiders.length === 0) return null;
	const who = outsiders.map(nameOf).join(', ');
	const add = async () => {
		await client.conversation(channel).invite(outsiders.map(({ id }) => id));
		setOutsiders([]);
	};
	return (
		<p className="outsiders" role="status">
			<span>
				<bdi>{who}</bdi> {outsiders.length === 1 ? 'is' : 'are'} not in this channel and will not be notified.
			</span>
			<button type="button" className="link" onClick={() => showToast(add(), `${who} added to the channel.`)}>
				Add to the channel
			</button>
		</p>
	);
}

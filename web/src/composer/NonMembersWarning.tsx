import type { TidemarkClient, User } from '@tidemark/client';
import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { loadEverybody } from '../session/load-everybody.ts';
import { isChannel, nameOf } from '../session/names.ts';
import { toastResult } from '../session/toast.tsx';
import { namesIn } from './wire-text.ts';

/** In larger channels there is no warning: loading all members would take too long. */
const MAX_PAGES = 3;
const DEBOUNCE_MS = 400;

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

interface Props {
	readonly channel: string;
	readonly text: string;
	/** The message with this text was sent already. */
	readonly isSent: boolean;
}

/** Warns about mentioned people who are not in the channel: they are not notified. */
export function NonMembersWarning({ channel, text, isSent }: Props) {
	const client = useClient();
	const conversation = useSelected(({ conversations }) => conversations.get(channel) ?? null);
	const [nonMembers, setNonMembers] = useState<readonly User[]>([]);
	const names = namesIn(text).join(' ');
	const isNeeded = names !== '' && isChannel(conversation);
	useEffect(() => {
		if (!isNeeded) {
			setNonMembers([]);
			return;
		}
		let isCurrent = true;
		const look = async () => {
			await loadEverybody(client);
			const wanted = new Set(names.toLowerCase().split(' '));
			const named = [...client.getSnapshot().users.values()].filter(
				({ name, isDeleted }) => !isDeleted && wanted.has(name.toLowerCase()),
			);
			const members = named.length > 0 ? await membersOf(client, channel) : null;
			if (isCurrent) setNonMembers(members ? named.filter(({ id }) => !members.has(id)) : []);
		};
		const timer = setTimeout(() => look().catch(() => undefined), DEBOUNCE_MS);
		return () => {
			isCurrent = false;
			clearTimeout(timer);
		};
	}, [client, channel, names, isNeeded]);
	if (nonMembers.length === 0) return null;
	const who = nonMembers.map(nameOf).join(', ');
	const isOne = nonMembers.length === 1;
	const add = async () => {
		await client.conversation(channel).invite(nonMembers.map(({ id }) => id));
		setNonMembers([]);
	};
	return (
		<p className="non-members" role="status">
			<span>
				<bdi>{who}</bdi> {isOne ? 'is' : 'are'} not in this channel and{' '}
				{isSent ? `${isOne ? 'was' : 'were'} not notified.` : 'will not be notified.'}
			</span>
			<button
				type="button"
				className="link"
				onClick={() => toastResult(add(), `${who} ${isOne ? 'was' : 'were'} added to the channel.`)}
			>
				Add to the channel
			</button>
		</p>
	);
}

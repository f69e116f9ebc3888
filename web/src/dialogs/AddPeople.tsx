import { ApiError } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { useEffect, useMemo, useState } from 'react';
import { nameOf } from '../session/names.ts';
import { Chooser } from '../ui/Chooser.tsx';
import { errorText } from '../ui/states.tsx';
import { findPeople } from './finding.ts';
import { personChoice } from './person-choice.tsx';
import type { ConversationMembers } from './useMembers.ts';

const MAX_SHOWN = 50;

/** Adds people to a channel one by one; the dialog stays open. */
export function AddPeople({ of, onDone }: { readonly of: ConversationMembers; readonly onDone: () => void }) {
	const users = useSelected((snapshot) => snapshot.users);
	const [written, setWritten] = useState('');
	const [status, setStatus] = useState('');
	const members = useMemo(() => new Set(of.members), [of.members]);
	const { hasMore, error, loadMore } = of;
	// Until all members are known, the list would offer some of them.
	const isComplete = of.members !== null && !hasMore;
	useEffect(() => {
		if (hasMore && !error) loadMore();
	});
	const add = async (id: string) => {
		try {
			await of.add(id);
			setStatus(`${nameOf(users.get(id))} was added.`);
			setWritten('');
		} catch (reason) {
			setStatus(errorText(reason instanceof ApiError ? reason.code : 'network_error'));
		}
	};
	return (
		<>
			<Chooser
				label="Person to add"
				written={written}
				onWrite={setWritten}
				groups={[
					{
						heading: 'Not members yet',
						choices: (isComplete ? findPeople(users, members, written) : [])
							.slice(0, MAX_SHOWN)
							.map((user) => personChoice(user, () => void add(user.id))),
					},
				]}
				nothing={
					error
						? errorText(error)
						: !isComplete
							? 'Loading the members…'
							: written
								? 'No matches.'
								: 'Everybody is already a member.'
				}
			/>
			<footer className="dialog-foot">
				<p className="grow hint" role="status">
					{status}
				</p>
				<button type="button" className="button small" onClick={onDone}>
					Done
				</button>
			</footer>
		</>
	);
}

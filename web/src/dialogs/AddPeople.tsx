import { ApiError } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { useMemo, useState } from 'react';
import { nameOf } from '../session/names.ts';
import { Chooser } from '../ui/Chooser.tsx';
import { sayError } from '../ui/states.tsx';
import { foundPeople } from './finding.ts';
import { personChoice } from './person-choice.tsx';
import type { MembersOf } from './useMembers.ts';

const MOST = 50;

/** Adds people one by one; the dialog stays open. */
export function AddPeople({ of, onDone }: { readonly of: MembersOf; readonly onDone: () => void }) {
	const users = useSelected((snapshot) => snapshot.users);
	const [written, setWritten] = useState('');
	const [said, setSaid] = useState('');
	const members = useMemo(() => new Set(of.members), [of.members]);
	const add = async (id: string) => {
		try {
			await of.add(id);
			setSaid(`${nameOf(users.get(id))} was added.`);
			setWritten('');
		} catch (reason) {
			setSaid(sayError(reason instanceof ApiError ? reason.code : 'network_error'));
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
						heading: 'Not a member yet',
						choices: foundPeople(users, members, written)
							.slice(0, MOST)
							.map((user) => personChoice(user, () => void add(user.id))),
					},
				]}
				nothing={written ? 'No matches.' : 'Everybody is a member already.'}
			/>
			<footer className="dialog-foot">
				<p className="grow hint" role="status">
					{said}
				</p>
				<button type="button" className="button small" onClick={onDone}>
					Done
				</button>
			</footer>
		</>
	);
}

import { useState } from 'react';
import { plural } from '../ui/format.ts';
import { Failed, Loading } from '../ui/states.tsx';
import type { Member } from './calls.ts';
import { MemberRow } from './MemberRow.tsx';

interface Props {
	/** Null: not loaded yet. */
	readonly members: readonly Member[] | null;
	readonly error: string | null;
	readonly onRetry: () => void;
	readonly onInvite: (member: Member) => void;
	readonly onToken: (member: Member) => void;
	readonly onSignOut: (member: Member) => void;
	readonly onActive: (member: Member, isActive: boolean) => void;
}

const MAX_SHOWN = 200;
const FILTER_FROM = 11;

/** The people of a workspace, with a filter if there are many. */
export function MemberSection({ members, error, onRetry, onInvite, onToken, onSignOut, onActive }: Props) {
	const [filter, setFilter] = useState('');
	const wanted = filter.trim().toLowerCase();
	const found = (members ?? []).filter(({ name, real_name }) =>
		`${name} ${real_name}`.toLowerCase().includes(wanted),
	);
	return (
		<section className="card" aria-label="People">
			<h2>People</h2>
			{error && <Failed error={error} onRetry={onRetry} />}
			{!error && !members && <Loading lines={4} label="Loading people" />}
			{members?.length === 0 && (
				<p>Nobody is in this workspace yet. Create an invite link and send it to someone.</p>
			)}
			{members && members.length >= FILTER_FROM && (
				<input
					className="field"
					type="search"
					aria-label="Find a person"
					placeholder="Find a person"
					value={filter}
					onChange={({ target }) => setFilter(target.value)}
				/>
			)}
			<ul className="admin-members">
				{found.slice(0, MAX_SHOWN).map((member) => (
					<MemberRow
						key={member.id}
						member={member}
						onInvite={() => onInvite(member)}
						onToken={() => onToken(member)}
						onSignOut={() => onSignOut(member)}
						onActive={(isActive) => onActive(member, isActive)}
					/>
				))}
			</ul>
			{found.length > MAX_SHOWN && (
				<p className="hint">
					{plural(found.length - MAX_SHOWN, 'more person is', 'more people are')} not shown. Type a name above
					to find them.
				</p>
			)}
		</section>
	);
}

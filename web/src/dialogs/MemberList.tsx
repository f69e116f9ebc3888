import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useMemo, useState } from 'react';
import { nameOf, useSelf } from '../session/names.ts';
import { useIsOutage } from '../session/outage.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { errorText, Loading } from '../ui/states.tsx';
import type { ConversationMembers } from './useMembers.ts';

const SHOWN_AT_ONCE = 50;

/** The members by name, and whether each is active. */
export function MemberList({ of }: { readonly of: ConversationMembers }) {
	const client = useClient();
	const self = useSelf();
	const users = useSelected((snapshot) => snapshot.users);
	const presence = useSelected((snapshot) => snapshot.presence);
	const isOutage = useIsOutage();
	const [shownCount, setShownCount] = useState(SHOWN_AT_ONCE);
	const { members, hasMore, error, loadMore } = of;
	const sorted = useMemo(
		() =>
			(members ?? []).toSorted((a, b) =>
				(nameOf(users.get(a)) || '\uffff').localeCompare(nameOf(users.get(b)) || '\uffff'),
			),
		[members, users],
	);
	const shown = sorted.slice(0, shownCount);
	const watched = shown.join();
	useEffect(() => (watched ? client.watchPresence(watched.split(',')) : undefined), [client, watched]);
	if (error) return <p role="alert">{errorText(error)}</p>;
	if (!members) return <Loading lines={3} label="Loading the members" />;
	return (
		<>
			<ul className="people">
				{shown.map((id) => {
					const user = users.get(id) ?? client.user(id);
					const isActive = presence.get(id) === 'active';
					return (
						<li key={id}>
							<PersonAvatar
								id={id}
								name={nameOf(user)}
								presence={isOutage ? undefined : isActive ? 'active' : 'away'}
							/>
							<span className="person">
								<strong>
									{nameOf(user) || '…'}
									{id === self && <span className="hint"> you</span>}
								</strong>
								<span className="hint">
									{[user && `@${user.name}`, !isOutage && (isActive ? 'Active' : 'Away')]
										.filter(Boolean)
										.join(' · ')}
								</span>
							</span>
						</li>
					);
				})}
			</ul>
			{(hasMore || sorted.length > shownCount) && (
				<button
					type="button"
					className="button small"
					onClick={() => {
						setShownCount(shownCount + SHOWN_AT_ONCE);
						if (hasMore && sorted.length <= shownCount + SHOWN_AT_ONCE) loadMore();
					}}
				>
					Show more
				</button>
			)}
		</>
	);
}

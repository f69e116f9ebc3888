import { exactTime, whenOf } from '../ui/format.ts';
import type { Invite, Member } from './calls.ts';

/** Enough digits to distinguish the open links of a workspace; calls use the whole id. */
const SHOWN_DIGITS = 8;

export const shortId = ({ id }: Pick<Invite, 'id'>): string => id.slice(0, SHOWN_DIGITS);

interface Props {
	readonly invites: readonly Invite[];
	readonly members: readonly Member[];
	readonly onRevoke: (id: string) => void;
}

/** Links that were not used yet, newest first. The server does not store the links themselves, so the list shows their ids. */
export function InviteList({ invites, members, onRevoke }: Props) {
	if (invites.length === 0) return null;
	const newestFirst = invites.toSorted((one, other) => other.date_created - one.date_created);
	return (
		<ul className="admin-invites" aria-label="Open invites">
			{newestFirst.map((invite) => (
				<li key={invite.id}>
					<span>
						Link {shortId(invite)} for <bdi>{invite.label || personOf(members, invite.user_id)}</bdi>
						<small className="hint">
							created {whenOf(String(invite.date_created))} by{' '}
							<bdi>{invite.created_by ? personOf(members, invite.created_by) : 'an administrator'}</bdi>,
							expires{' '}
							<time title={exactTime(String(invite.expires_at))}>{whenOf(String(invite.expires_at))}</time>
						</small>
					</span>
					<button
						type="button"
						className="button small"
						aria-label={`Revoke link ${shortId(invite)}`}
						onClick={() => onRevoke(invite.id)}
					>
						Revoke
					</button>
				</li>
			))}
		</ul>
	);
}

const personOf = (members: readonly Member[], user: string | undefined): string =>
	user === undefined ? 'a new person' : (members.find(({ id }) => id === user)?.name ?? user);

import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Question } from '../ui/Question.tsx';

interface Props {
	readonly onClose: () => void;
	/** `revoke`: the session ends at the server too. */
	readonly onSignOut: (revoke: boolean) => void;
}

interface Session {
	readonly device: string;
	readonly is_current: boolean;
}

/**
 * A session that began with a link has a token that the user has never seen: signing out revokes it, and signing in again needs
 * another link, so this asks first. A token that the user pasted stays valid, so signing out needs no question.
 */
export function SignOutDialog({ onClose, onSignOut }: Props) {
	const client = useClient();
	const [isAsking, setAsking] = useState(false);
	useEffect(() => {
		client.call<{ sessions: readonly Session[] }>('auth.sessions.list').then(
			({ sessions }) => {
				if (sessions.some(({ is_current, device }) => is_current && device !== '')) setAsking(true);
				else onSignOut(false);
			},
			() => onSignOut(false),
		);
	}, [client, onSignOut]);
	if (!isAsking) return null;
	return (
		<Question
			title="Sign out?"
			no="Stay signed in"
			yes="Sign out"
			onNo={onClose}
			onYes={() => onSignOut(true)}
		>
			<p>
				To sign in again on this device you need a new link. You can make one under <b>Your devices</b> where
				you are still signed in; otherwise ask your administrator.
			</p>
		</Question>
	);
}

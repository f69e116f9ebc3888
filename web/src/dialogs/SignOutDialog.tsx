import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Question } from '../ui/Question.tsx';

interface Props {
	readonly onClose: () => void;
	/** `revoke`: whether to revoke the session's token as well. */
	readonly onSignOut: (revoke: boolean) => void;
}

interface Session {
	readonly device: string;
	readonly is_current: boolean;
}

/**
 * Asks before signing out of a session that began with a link: signing out revokes its token, and signing in again needs another
 * link. If the user pasted a token, that token stays valid, so the dialog signs out without asking.
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
				To sign in again on this device, you need a new link. Create one under <b>Your devices</b> on a device
				where you are still signed in, or ask your administrator for one.
			</p>
		</Question>
	);
}

import { ApiError, isTokenRejected } from '@tidemark/client';
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
 * link. If the user pasted a token, that token stays valid, so the dialog signs out without asking. If the server does not say how
 * the session began, the dialog asks too, and revokes nothing: the token may be a pasted one.
 */
export function SignOutDialog({ onClose, onSignOut }: Props) {
	const client = useClient();
	const [origin, setOrigin] = useState<'link' | 'unknown' | null>(null);
	useEffect(() => {
		client.call<{ sessions: readonly Session[] }>('auth.sessions.list').then(
			({ sessions }) => {
				if (sessions.some(({ is_current, device }) => is_current && device !== '')) setOrigin('link');
				else onSignOut(false);
			},
			(error: unknown) => {
				if (error instanceof ApiError && isTokenRejected(error.code)) onSignOut(false);
				else setOrigin('unknown');
			},
		);
	}, [client, onSignOut]);
	if (origin === null) return null;
	const isLink = origin === 'link';
	return (
		<Question
			title="Sign out?"
			no="Stay signed in"
			yes={isLink ? 'Sign out' : 'Sign out anyway'}
			onNo={onClose}
			onYes={() => onSignOut(isLink)}
		>
			{!isLink && (
				<p>
					The server does not answer. You can sign out on this device, but your session stays valid until you
					end it under <b>Your devices</b>.
				</p>
			)}
			<p>
				{isLink
					? 'To sign in again on this device, you need a new link.'
					: 'If you signed in with a link, you need a new one to sign in again on this device.'}{' '}
				Create one under <b>Your devices</b> on a device where you are still signed in, or ask your
				administrator for one.
			</p>
		</Question>
	);
}

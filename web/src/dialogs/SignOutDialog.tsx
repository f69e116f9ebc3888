import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Dialog } from '../ui/Dialog.tsx';

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
 * A session that a link began has a token that nobody knows: it ends with the sign-out, and the way back is another link, so it
 * asks. A token that somebody pasted stays valid, and signs out at once.
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
		<Dialog title="Sign out?" onClose={onClose}>
			<p>
				To sign in again on this device you need a new link. You can make one under <b>Your devices</b> where
				you are still signed in; otherwise ask your administrator.
			</p>
			<div className="buttons">
				<button type="button" className="button" onClick={onClose}>
					Stay signed in
				</button>
				<button type="button" className="button danger" onClick={() => onSignOut(true)}>
					Sign out
				</button>
			</div>
		</Dialog>
	);
}

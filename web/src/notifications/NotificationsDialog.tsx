import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Dialog } from '../ui/Dialog.tsx';
import { isFixed, WORDS } from './standing.ts';
import { isRefusal, lookAtStanding, turnOff, turnOn } from './subscribing.ts';

/** Notifications of this browser: on, off, or why they cannot be. */
export function NotificationsDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const [standing, setStanding] = useState(() => lookAtStanding(client));
	useEffect(() => {
		client.call('push.webKey').catch((error: unknown) => {
			if (isRefusal(error)) setStanding('refused');
		});
	}, [client]);
	const change = (turn: typeof turnOn) => {
		if (standing === 'changing') return;
		setStanding('changing');
		turn(client).then(setStanding, () => setStanding('failed'));
	};
	return (
		<Dialog title="Notifications" onClose={onClose}>
			<label className="switch">
				<input
					type="checkbox"
					role="switch"
					checked={standing === 'on'}
					aria-checked={standing === 'on'}
					disabled={isFixed(standing)}
					onChange={({ target }) => change(target.checked ? turnOn : turnOff)}
				/>
				Notify me in this browser
			</label>
			<p className="hint" role="status">
				{WORDS[standing]}
			</p>
		</Dialog>
	);
}

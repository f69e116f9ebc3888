import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Dialog } from '../ui/Dialog.tsx';
import { isFixed, STATE_TEXTS } from './notification-state.ts';
import { isWebPushOff, notificationState, turnOff, turnOn } from './subscribing.ts';

/** Turns notifications in this browser on or off, or says why that is impossible. */
export function NotificationsDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const [state, setState] = useState(() => notificationState(client));
	useEffect(() => {
		client.call('push.webKey').catch((error: unknown) => {
			if (isWebPushOff(error)) setState('disabled');
		});
	}, [client]);
	const change = (turn: typeof turnOn) => {
		if (state === 'changing') return;
		setState('changing');
		turn(client).then(setState, () => setState('failed'));
	};
	return (
		<Dialog title="Notifications" onClose={onClose}>
			<label className="switch">
				<input
					type="checkbox"
					role="switch"
					checked={state === 'on'}
					aria-checked={state === 'on'}
					disabled={isFixed(state)}
					onChange={({ target }) => change(target.checked ? turnOn : turnOff)}
				/>
				Notify me in this browser
			</label>
			<p className="hint" role="status">
				{STATE_TEXTS[state]}
			</p>
		</Dialog>
	);
}

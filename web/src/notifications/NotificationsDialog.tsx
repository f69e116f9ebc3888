import { ApiError } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { Dialog } from '../ui/Dialog.tsx';
import { errorText } from '../ui/states.tsx';
import { isFixed, STATE_TEXTS } from './notification-state.ts';
import { isWebPushOff, notificationState, turnOff, turnOn } from './subscribing.ts';

/** Turns notifications in this browser on or off, or says why that is impossible. */
export function NotificationsDialog({ onClose }: { readonly onClose: () => void }) {
	const client = useClient();
	const [state, setState] = useState(() => notificationState(client));
	/** Why the server rejected the last change; null if it did not. */
	const [rejection, setRejection] = useState<string | null>(null);
	useEffect(() => {
		client.call('push.webKey').catch((error: unknown) => {
			if (isWebPushOff(error)) setState('disabled');
		});
	}, [client]);
	const change = (turn: typeof turnOn) => {
		if (state === 'changing') return;
		setState('changing');
		setRejection(null);
		turn(client).then(setState, (error: unknown) => {
			setState('failed');
			if (error instanceof ApiError) setRejection(error.code);
		});
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
				{state === 'failed' && rejection ? errorText(rejection) : STATE_TEXTS[state]}
			</p>
		</Dialog>
	);
}

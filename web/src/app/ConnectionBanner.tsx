import { useClient, useConnection, useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { useIsOutage } from '../session/outage.ts';
import { plural } from '../ui/format.ts';
import { errorText } from '../ui/states.tsx';

/**
 * Shown during an outage: says that unsent messages are saved, and offers to connect now. If the client has stopped and does not
 * reconnect by itself, it says why.
 */
export function ConnectionBanner() {
	const client = useClient();
	const { status, reason, retryAt } = useConnection();
	const unsent = useSelected(({ unsentCount }) => unsentCount);
	const isReady = useSelected((snapshot) => snapshot.isReady);
	const isShown = useIsOutage();
	const seconds = useSecondsUntil(isShown ? retryAt : null);
	return (
		<div className="banner-place" role="status">
			{isShown && status === 'stopped' && (
				<p className="banner">
					<span>
						<strong>Not connected.</strong> {errorText(reason ?? 'closed')}
					</span>
					<button
						type="button"
						className="button small"
						onClick={() => void client.connect().catch(() => undefined)}
					>
						Try again
					</button>
				</p>
			)}
			{isShown && status !== 'stopped' && (
				<p className="banner">
					<span>
						<strong>{isReady ? 'Reconnecting…' : 'Connecting…'}</strong> {wordsFor(isReady, unsent)}
					</span>
					<button type="button" className="button small" onClick={() => client.reconnect()}>
						Try now
					</button>
					{seconds > 1 && (
						<span className="banner-wait" aria-hidden="true">
							Next try in {seconds} s
						</span>
					)}
				</p>
			)}
		</div>
	);
}

function wordsFor(isReady: boolean, unsent: number): string {
	if (!isReady)
		return 'Your conversations appear when you are connected. Drafts and unsent messages are saved in this browser.';
	if (unsent === 0) return 'You can keep writing: messages are sent when you are connected again.';
	const saved =
		unsent === 1 ? 'It is saved in this browser, and sent' : 'They are saved in this browser, and sent';
	return `${plural(unsent, 'message')} not sent yet. ${saved} when you are connected again.`;
}

function useSecondsUntil(at: number | null): number {
	const [now, setNow] = useState(() => Date.now());
	useEffect(() => {
		if (at === null) return;
		setNow(Date.now());
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, [at]);
	return at === null ? 0 : Math.ceil((at - now) / 1000);
}

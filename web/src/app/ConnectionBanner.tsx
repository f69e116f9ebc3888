import { useClient, useConnection, useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { plural } from '../ui/format.ts';

/** A short interruption is not shown. */
const TOLERATED_MS = 400;

/** Says that what is shown may be old, what happens to what one writes, and offers to try at once. */
export function ConnectionBanner() {
	const client = useClient();
	const { status, retryAt } = useConnection();
	const unsent = useSelected(({ unsentCount }) => unsentCount);
	const isOffline = status !== 'online';
	const [isShown, setShown] = useState(false);
	useEffect(() => {
		if (!isOffline) {
			setShown(false);
			return;
		}
		const timer = setTimeout(() => setShown(true), TOLERATED_MS);
		return () => clearTimeout(timer);
	}, [isOffline]);
	const seconds = useSecondsUntil(isShown ? retryAt : null);
	return (
		<div className="banner-place" role="status">
			{isShown && (
				<p className="banner">
					<span>
						<strong>Reconnecting…</strong>{' '}
						{unsent > 0
							? `${plural(unsent, 'message')} not sent yet. They are saved here and sent when you are connected again.`
							: 'You can keep writing: messages are sent when you are connected again.'}
					</span>
					<button type="button" className="button small" onClick={() => client.reconnect()}>
						Try now
					</button>
					{seconds > 1 && (
						<span className="banner-wait" aria-hidden="true">
							in {seconds} s
						</span>
					)}
				</p>
			)}
		</div>
	);
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

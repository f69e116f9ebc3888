import type { Connection } from '@tidemark/client';
import { useEffect, useState } from 'react';

/** A blink of the network is nothing to tell. */
const TOLERATED_MS = 400;

/** Says that what is shown may be old, and what happens to what one writes. */
export function ConnectionBanner({ connection }: { readonly connection: Connection }) {
	const isOffline = connection.status !== 'online';
	const [isShown, setShown] = useState(false);
	useEffect(() => {
		if (!isOffline) {
			setShown(false);
			return;
		}
		const timer = setTimeout(() => setShown(true), TOLERATED_MS);
		return () => clearTimeout(timer);
	}, [isOffline]);
	return (
		<div className="banner-place" role="status">
			{isShown && (
				<p className="banner">
					<strong>Reconnecting…</strong> What you write is kept and sent when the connection is back.
				</p>
			)}
		</div>
	);
}

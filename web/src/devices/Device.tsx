import type { TidemarkClient } from '@tidemark/client';
import { useEffect, useRef, useState } from 'react';
import { shortCount } from '../ui/format.ts';

const CHECK_EVERY_MS = 200;

/** A frame with a client of its own: separate connection, separate counts. */
export function Device({ name }: { readonly name: 'Laptop' | 'Phone' }) {
	const frame = useRef<HTMLIFrameElement>(null);
	const badge = useFrameBadge(frame);
	return (
		<figure className={`device ${name.toLowerCase()}`}>
			<figcaption>
				<strong>{name}</strong>
				<output aria-label={`Badge of the ${name.toLowerCase()}`} className={badge ? 'badge' : 'badge none'}>
					{badge === null ? '…' : shortCount(badge)}
				</output>
			</figcaption>
			<iframe ref={frame} src="/" title={name} />
		</figure>
	);
}

/** The badge that the client in the frame shows; null until that client is ready. */
function useFrameBadge(frame: { readonly current: HTMLIFrameElement | null }): number | null {
	const [client, setClient] = useState<TidemarkClient | null>(null);
	const [badge, setBadge] = useState<number | null>(null);
	useEffect(() => {
		// The frame creates another client when the user signs in again.
		const timer = setInterval(() => {
			const inside = frame.current?.contentWindow as { tidemark?: TidemarkClient } | null | undefined;
			setClient(inside?.tidemark ?? null);
		}, CHECK_EVERY_MS);
		return () => clearInterval(timer);
	}, [frame]);
	useEffect(() => {
		if (!client) return;
		const show = () => setBadge(client.getSnapshot().isReady ? client.badge.getSnapshot() : null);
		show();
		return client.subscribe(show);
	}, [client]);
	return badge;
}

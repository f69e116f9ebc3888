import { useMemo, useSyncExternalStore } from 'react';
import { formatRoute, parseRoute, type Route } from './address.ts';

export * from './address.ts';

/** Navigation: the current route, and how to change it. */

export const go = (route: Route): void => {
	location.hash = formatRoute(route);
};

/** Opens the thread beside the current view. */
export const openThread = (channel: string, ts: string): void =>
	go({ ...parseRoute(location.hash), thread: { channel, ts } });
export const closeThread = (): void => go({ ...parseRoute(location.hash), thread: null });

function subscribe(listener: () => void): () => void {
	addEventListener('hashchange', listener);
	return () => removeEventListener('hashchange', listener);
}

export function useRoute(): Route {
	const hash = useSyncExternalStore(subscribe, () => location.hash);
	return useMemo(() => parseRoute(hash), [hash]);
}

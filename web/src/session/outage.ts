import type { Presence } from '@tidemark/client';
import { useConnection, useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';

/** Shorter interruptions are not shown. */
const TOLERATED_MS = 400;

/** Whether the client has had no connection for longer than `TOLERATED_MS`. */
export function useIsOutage(): boolean {
	const isOffline = useConnection().status !== 'online';
	const [isOutage, setOutage] = useState(false);
	useEffect(() => {
		if (!isOffline) {
			setOutage(false);
			return;
		}
		const timer = setTimeout(() => setOutage(true), TOLERATED_MS);
		return () => clearTimeout(timer);
	}, [isOffline]);
	return isOutage;
}

/** The presence of a user. Undefined while unknown, as it is during an outage. */
export function usePresence(user: string): Presence | undefined {
	const presence = useSelected((snapshot) => snapshot.presence.get(user));
	return useIsOutage() ? undefined : presence;
}

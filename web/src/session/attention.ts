import { attendWindow } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useEffect, useSyncExternalStore } from 'react';

/**
 * Whether the window has the user's attention: it is visible, has the keyboard focus, and was used within the last minute. Only then
 * are messages marked read automatically.
 */
export function useIsAttentive(): boolean {
	const { subscribe, getSnapshot } = useClient().attention;
	return useSyncExternalStore(subscribe, getSnapshot);
}

/** Reports the attention of this window to the client while the component is mounted. */
export function useReportAttention(): void {
	const { attention } = useClient();
	useEffect(() => attendWindow(attention), [attention]);
}

import { attendWindow } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useEffect, useSyncExternalStore } from 'react';

/** Whether the user is attentive: the window is visible, has the keyboard focus, and was used within the last minute. Only then are messages read. */
export function useIsThere(): boolean {
	const { subscribe, getSnapshot } = useClient().attention;
	return useSyncExternalStore(subscribe, getSnapshot);
}

/** Reports what happens in this window to the client, while it is shown. */
export function useAttendance(): void {
	const { attention } = useClient();
	useEffect(() => attendWindow(attention), [attention]);
}

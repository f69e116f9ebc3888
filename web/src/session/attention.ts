import { attendWindow } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useEffect, useSyncExternalStore } from 'react';

/** Whether somebody is there: this window is in front, has the keyboard, and was used lately. Only then is anything read. */
export function useIsThere(): boolean {
	const { subscribe, getSnapshot } = useClient().attention;
	return useSyncExternalStore(subscribe, getSnapshot);
}

/** Reports what happens in this window to the client, while it is shown. */
export function useAttendance(): void {
	const { attention } = useClient();
	useEffect(() => attendWindow(attention), [attention]);
}

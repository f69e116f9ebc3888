/** Handles a click on a notification while this page is open: the service worker sends the target. */
export function followNotifications(): void {
	if (!('serviceWorker' in navigator)) return;
	navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent) => {
		const { type, address } = data as { type?: string; address?: string };
		if (type === 'open' && address) location.hash = address;
	});
}

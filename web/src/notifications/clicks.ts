/** A click on a notification leads here, where this page is open already: the service worker says to what. */
export function followNotifications(): void {
	if (!('serviceWorker' in navigator)) return;
	navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent) => {
		const { type, address } = data as { type?: string; address?: string };
		if (type === 'open' && address) location.hash = address;
	});
}

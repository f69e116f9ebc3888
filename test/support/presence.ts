import type { Person } from './people.ts';

/** Becoming active and ceasing to be, as the server sees it: by a socket. */

/**
 * A moment after everything that was stamped so far and before everything to come, where nothing happens meanwhile. Positions
 * do not say it: they are of one user, and know nothing of conversations that the user is not in.
 */
export async function timestampNow(): Promise<number> {
	await Bun.sleep(3);
	return (Date.now() - 1) * 1000;
}

/** Opens a socket and waits for its hello; answers when the user is active from. */
export async function comeOnline(person: Person): Promise<{ socket: WebSocket; at: number }> {
	const { url } = await person.call('rtm.connect');
	const socket = new WebSocket(url);
	await new Promise<void>((resolve, reject) => {
		socket.onmessage = () => resolve();
		socket.onerror = () => reject(new Error('the socket did not open'));
	});
	return { socket, at: await timestampNow() };
}

/** Waits until the server has noticed; answers a moment from which it holds. */
export async function untilInactive(person: Person): Promise<number> {
	const giveUpAt = Date.now() + 10_000;
	while ((await person.call('users.getPresence')).presence !== 'away') {
		if (Date.now() > giveUpAt) throw new Error(`${person.id} is still active`);
	}
	return timestampNow();
}

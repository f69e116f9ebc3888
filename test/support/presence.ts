import type { Person } from './people.ts';

/** Makes a user active by opening a socket, and waits until a user is inactive. */

/**
 * A time after every stamp so far and before every later one, if nothing happens meanwhile. Positions do not give that:
 * they belong to one user, and ignore conversations that the user is not in.
 */
export async function timestampNow(): Promise<number> {
	await Bun.sleep(3);
	return (Date.now() - 1) * 1000;
}

/** Opens a socket, waits for its hello, and returns the time from which the user is active. */
export async function comeOnline(person: Person): Promise<{ socket: WebSocket; at: number }> {
	const { url } = await person.call('rtm.connect');
	const socket = new WebSocket(url);
	await new Promise<void>((resolve, reject) => {
		socket.onmessage = () => resolve();
		socket.onerror = () => reject(new Error('the socket did not open'));
	});
	return { socket, at: await timestampNow() };
}

/** Waits until the server reports the user as away, and returns a time from which the user is inactive. */
export async function untilInactive(person: Person): Promise<number> {
	const giveUpAt = Date.now() + 10_000;
	while ((await person.call('users.getPresence')).presence !== 'away') {
		if (Date.now() > giveUpAt) throw new Error(`${person.id} is still active`);
	}
	return timestampNow();
}

import { micros, type Person } from './people.ts';

/** Becoming active and ceasing to be, as the server sees it: by a socket. */

/** Opens a socket and waits for its hello; answers when the user is active from. */
export async function comeOnline(person: Person): Promise<{ socket: WebSocket; at: number }> {
	const { url } = await person.call('rtm.connect');
	const socket = new WebSocket(url);
	const position = await new Promise<string>((resolve, reject) => {
		socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)).position);
		socket.onerror = () => reject(new Error('the socket did not open'));
	});
	// The position is that of the newest message before: the user was not active for that one yet.
	return { socket, at: Number(position) + 1 };
}

/** Waits until the server has noticed; answers a moment from which it holds. */
export async function untilAway(person: Person): Promise<number> {
	const giveUpAt = Date.now() + 10_000;
	while ((await person.call('users.getPresence')).presence !== 'away') {
		if (Date.now() > giveUpAt) throw new Error(`${person.id} is still active`);
	}
	const { position } = await person.call('client.counts');
	return micros(position);
}

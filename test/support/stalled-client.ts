import { connect, type Socket } from 'node:net';

/** A client that opens a socket and then stops reading: the kernel's buffers fill, then the server's. */

export interface StalledClient {
	/** Reads until the end, and returns the total number of bytes. */
	resume(): Promise<number>;
}

export async function stalledClient(url: string): Promise<StalledClient> {
	const { hostname, port, pathname, search } = new URL(url);
	const socket: Socket = connect({ host: hostname, port: Number(port) });
	let received = 0;
	const upgraded = new Promise<void>((done, failed) => {
		let head = '';
		socket.on('error', failed);
		socket.on('data', (chunk) => {
			received += chunk.length;
			head += chunk.toString('latin1');
			// Waits for hello: only after it does the server deliver events to the socket.
			if (head.includes('"hello"')) done();
		});
	});
	const key = Buffer.from('0123456789abcdef').toString('base64');
	socket.write(
		`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\n` +
			`Connection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
	);
	await upgraded;
	socket.pause();
	return {
		resume: () =>
			new Promise((done) => {
				socket.removeAllListeners('error');
				socket.on('error', () => undefined);
				socket.on('close', () => done(received));
				socket.resume();
			}),
	};
}

import { connect, createServer, type Socket } from 'node:net';

/**
 * A network between client and server that can fail silently: after `swallow()` it accepts data from both sides and
 * delivers none. Neither side sees its connection close, until `restore()` resets all connections.
 */

export interface BlackHole {
	/** The address of the server through this network. */
	through(url: string): string;
	swallow(): void;
	restore(): void;
	stop(): void;
}

export async function blackHole(url: string): Promise<BlackHole> {
	const { hostname, port } = new URL(url);
	const sockets = new Set<Socket>();
	let swallows = false;
	const server = createServer((near) => {
		const far = connect({ host: hostname, port: Number(port) });
		for (const [from, to] of [
			[near, far],
			[far, near],
		] as const) {
			sockets.add(from);
			from.on('data', (chunk) => {
				if (!swallows) to.write(chunk);
			});
			from.on('error', () => undefined);
			from.on('close', () => {
				sockets.delete(from);
				if (!swallows) to.destroy();
			});
		}
	});
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	const address = server.address();
	if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
	return {
		through: (to) => {
			const url = new URL(to);
			url.hostname = '127.0.0.1';
			url.port = String(address.port);
			return url.href;
		},
		swallow: () => {
			swallows = true;
		},
		restore: () => {
			swallows = false;
			for (const socket of sockets) socket.destroy();
		},
		stop: () => {
			server.close();
			for (const socket of sockets) socket.destroy();
		},
	};
}

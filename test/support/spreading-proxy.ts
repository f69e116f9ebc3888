/** A minimal load balancer: sends connections to several addresses in turn. */

export interface SpreadingProxy {
	readonly url: string;
	/** No new connections go to this address; open ones stay. */
	leaveOut(url: string): void;
	add(url: string): void;
	stop(): void;
}

interface Ends {
	other: Bun.Socket<Ends> | undefined;
	/** Data from this socket, until the other side is connected; from then on, data that this socket cannot accept yet. */
	waiting: Buffer[];
	closed: boolean;
}

const newEnd = (): Ends => ({ other: undefined, waiting: [], closed: false });

export function spreadingProxy(urls: readonly string[]): SpreadingProxy {
	const targets = [...urls];
	let next = 0;
	const server = Bun.listen<Ends>({
		hostname: '127.0.0.1',
		port: 0,
		socket: {
			open(socket) {
				socket.data = newEnd();
				const target = targets[next++ % targets.length];
				if (target === undefined) socket.terminate();
				else void reach(socket, new URL(target));
			},
			data: passOn,
			drain: (socket) => flush(socket),
			close: end,
			error: end,
		},
	});
	return {
		url: `http://127.0.0.1:${server.port}`,
		leaveOut: (url) => {
			const index = targets.indexOf(url);
			if (index >= 0) targets.splice(index, 1);
		},
		add: (url) => void targets.push(url),
		stop: () => server.stop(true),
	};
}

async function reach(socket: Bun.Socket<Ends>, { hostname, port }: URL): Promise<void> {
	try {
		const far = await Bun.connect<Ends>({
			hostname,
			port: Number(port),
			data: newEnd(),
			socket: { data: passOn, drain: (one) => flush(one), close: end, error: end },
		});
		far.data.other = socket;
		socket.data.other = far;
		if (socket.data.closed) far.end();
		for (const chunk of socket.data.waiting.splice(0)) send(far, chunk);
	} catch {
		socket.terminate();
	}
}

function passOn(socket: Bun.Socket<Ends>, chunk: Buffer): void {
	const { other, waiting } = socket.data;
	if (other) send(other, Buffer.from(chunk));
	else waiting.push(Buffer.from(chunk));
}

/** Data that the socket cannot accept now wait in its own list. */
function send(socket: Bun.Socket<Ends>, chunk: Buffer): void {
	if (socket.data.waiting.length > 0) {
		socket.data.waiting.push(chunk);
		return;
	}
	const taken = socket.write(chunk);
	if (taken < chunk.length) socket.data.waiting.push(chunk.subarray(Math.max(0, taken)));
}

function flush(socket: Bun.Socket<Ends>): void {
	const waiting = socket.data.waiting.splice(0);
	for (const chunk of waiting) send(socket, chunk);
	if (socket.data.waiting.length === 0 && socket.data.other?.data.closed) socket.end();
}

function end(socket: Bun.Socket<Ends>): void {
	if (!socket.data) return;
	socket.data.closed = true;
	const { other } = socket.data;
	// What is still waiting is sent first: `flush` ends the connection.
	if (other?.data.waiting.length === 0) other.end();
}

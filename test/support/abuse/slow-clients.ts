import { connect, type Socket } from 'node:net';

/** Many clients that start something and never finish it: stalled uploads, unread answers. */

export interface SlowClients {
	/** The number of connections that the server has closed. */
	closed(): number;
	/** What each client has received so far, in the order of opening. */
	received(): readonly string[];
	end(): void;
}

const KEPT = 2_000;

export async function slowClients(
	url: string,
	count: number,
	request: (index: number) => string | Uint8Array,
	{ reads = true } = {},
): Promise<SlowClients> {
	const { hostname, port } = new URL(url);
	const received = Array.from({ length: count }, () => '');
	let closed = 0;
	const sockets: Socket[] = [];
	const open = (index: number): Promise<void> =>
		new Promise((resolve) => {
			const socket = connect({ host: hostname, port: Number(port) });
			sockets.push(socket);
			socket.on('error', () => undefined);
			socket.on('close', () => {
				closed += 1;
				resolve();
			});
			if (reads)
				socket.on('data', (chunk: Buffer) => {
					const known = received[index] ?? '';
					if (known.length < KEPT) received[index] = known + chunk.toString('latin1');
				});
			socket.on('connect', () => {
				if (!reads) socket.pause();
				socket.write(request(index));
				resolve();
			});
		});
	for (let start = 0; start < count; start += 50)
		await Promise.all(Array.from({ length: Math.min(50, count - start) }, (_, index) => open(start + index)));
	return {
		closed: () => closed,
		received: () => received,
		end: () => {
			for (const socket of sockets) socket.destroy();
		},
	};
}

/** The memory of the whole process, as the server reports it. */
export async function residentMb(url: string): Promise<number> {
	const text = await (await fetch(`${url}/metrics`)).text();
	return Number(/^tidemark_process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / (1024 * 1024);
}

/** The largest memory during the work, and for `settleMs` after it. */
export async function peakMb(url: string, work: () => Promise<unknown>, settleMs: number): Promise<number> {
	let peak = 0;
	let isOver = false;
	const watching = (async () => {
		for (let settledMs = 0; settledMs < settleMs; ) {
			peak = Math.max(peak, await residentMb(url));
			await Bun.sleep(100);
			if (isOver) settledMs += 100;
		}
	})();
	await work().finally(() => {
		isOver = true;
	});
	await watching;
	return peak;
}

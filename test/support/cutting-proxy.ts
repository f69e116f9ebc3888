import type { Socket } from 'bun';

/**
 * A proxy between a client and a server that cuts the connection at a chosen moment: when the client sends a chosen word.
 */

/**
 * `before`: cuts both connections before the server gets the word. `after`: cuts both after the server has answered, before
 * the client gets the answer. `silence`: keeps both open and forwards nothing more, like a server that lost its power.
 * `late`: cuts the client's connection; the server gets the word on `deliver`.
 */
export type Cut = 'before' | 'after' | 'silence' | 'late';

export interface CuttingProxy {
	readonly port: number;
	/** Cuts the next connection that sends the word. */
	cutNext(word: string, when: Cut): void;
	readonly cuts: number;
	/** Sends the server the data that were held back (`late`). */
	deliver(): void;
	/** Keeps the connections that have sent this word open, and forwards nothing on them any more. Returns their number. */
	silence(word: string): number;
	stop(): void;
}

const MAX_KEPT = 100_000;

interface Pair {
	upstream: Socket<Pair> | null;
	client: Socket<Pair> | null;
	readonly early: Buffer[];
	/** The next answer cuts both connections, and the client does not get it. */
	cutsOnAnswer: boolean;
	silent: boolean;
	/** The client's connection is cut, and the server gets this later. */
	late: Buffer | null;
	/** What the client has sent, up to about `MAX_KEPT` characters. */
	sent: string;
}

export async function cuttingProxy(host: string, port: number): Promise<CuttingProxy> {
	let armed: { word: string; when: Cut } | null = null;
	let cuts = 0;
	const open = new Set<Pair>();
	const end = (pair: Pair) => {
		open.delete(pair);
		pair.client?.terminate();
		pair.upstream?.terminate();
	};
	const cut = (pair: Pair) => {
		cuts += 1;
		end(pair);
	};

	const clientLeft = (pair: Pair) => {
		if (pair.late === null) end(pair);
	};

	const listener = Bun.listen<Pair>({
		hostname: '127.0.0.1',
		port: 0,
		socket: {
			open(client) {
				const pair: Pair = {
					upstream: null,
					client,
					early: [],
					cutsOnAnswer: false,
					silent: false,
					late: null,
					sent: '',
				};
				open.add(pair);
				client.data = pair;
				void Bun.connect<Pair>({
					hostname: host,
					port,
					data: pair,
					socket: {
						open(upstream) {
							pair.upstream = upstream;
							for (const data of pair.early.splice(0)) upstream.write(data);
						},
						data(_, data) {
							if (pair.silent) return;
							if (pair.cutsOnAnswer) cut(pair);
							else pair.client?.write(data);
						},
						close: () => end(pair),
						error: () => end(pair),
					},
				}).catch(() => end(pair));
			},
			data({ data: pair }, data) {
				if (pair.silent) return;
				if (pair.sent.length < MAX_KEPT) pair.sent += data.toString('latin1');
				if (armed !== null && data.includes(armed.word)) {
					const { when } = armed;
					armed = null;
					if (when === 'before') {
						cut(pair);
						return;
					}
					if (when === 'silence') {
						cuts += 1;
						pair.silent = true;
						return;
					}
					if (when === 'late') {
						cuts += 1;
						pair.silent = true;
						pair.late = Buffer.from(data);
						pair.client?.terminate();
						return;
					}
					pair.cutsOnAnswer = true;
				}
				if (pair.upstream === null) pair.early.push(Buffer.from(data));
				else pair.upstream.write(data);
			},
			close: ({ data }) => clientLeft(data),
			error: ({ data }) => clientLeft(data),
		},
	});
	return {
		port: listener.port,
		cutNext: (word, when) => {
			armed = { word, when };
		},
		get cuts() {
			return cuts;
		},
		deliver: () => {
			for (const { upstream, late } of open) if (late !== null) upstream?.end(late);
		},
		silence: (word) => {
			const found = [...open].filter(({ sent }) => sent.toLowerCase().includes(word));
			for (const pair of found) pair.silent = true;
			return found.length;
		},
		stop: () => listener.stop(true),
	};
}

import type { ClientOptions, WebSocketLike } from '../../../client/src/index.ts';

/**
 * A network between a client of the SDK and its server that tests can break: cut connections, lost frames and answers,
 * no network at all.
 */

interface Frame {
	readonly type?: string;
	// biome-ignore lint/suspicious/noExplicitAny: frames are looked at as tests expect them to be
	readonly [field: string]: any;
}

export class Network {
	/** Calls that reached the server, in order. */
	readonly calls: { readonly method: string; readonly args: Frame }[] = [];
	/** Frames that reached the client. */
	readonly frames: Frame[] = [];
	/** Frames that the client sent. */
	readonly sent: Frame[] = [];
	isOffline = false;
	/** Decides which calls fail and when, for random failures. */
	fails: (method: string, when: 'before' | 'after') => boolean = () => false;
	private readonly open = new Set<() => void>();
	private readonly listeners = new Set<() => void>();
	/** Methods of the calls that the server has answered. */
	private readonly answered: string[] = [];
	private dropped: { matches: (frame: Frame) => boolean; times: number } | undefined;
	private lastBeforeOffline: ((frame: Frame) => boolean) | undefined;
	private held: { method: string; released: Promise<void> } | undefined;
	private lost: { method: string; when: 'before' | 'after'; times: number } | undefined;

	/** Cuts every socket: frames in flight are lost. */
	cut(): void {
		for (const end of this.open) end();
	}

	/** No network: open connections are cut, and new ones fail. */
	goOffline(): void {
		this.isOffline = true;
		this.cut();
	}

	goOnline(): void {
		this.isOffline = false;
	}

	/** The network fails right after the next matching frame has reached the client. */
	goOfflineAfter(matches: (frame: Frame) => boolean): void {
		this.lastBeforeOffline = matches;
	}

	/** Loses the next matching frames, and nothing else. */
	drop(matches: (frame: Frame) => boolean, times = 1): void {
		this.dropped = { matches, times };
	}

	/** Makes the next calls of this method fail: before the server gets them, or after it has answered. */
	lose(method: string, when: 'before' | 'after', times = 1): void {
		this.lost = { method, when, times };
	}

	/** Holds back the answers of this method until the returned function is called. */
	hold(method: string): () => void {
		let release = (): void => undefined;
		const released = new Promise<void>((done) => {
			release = done;
		});
		this.held = { method, released };
		return release;
	}

	/** Resolves when the server has answered this many calls of the method. */
	served(method: string, times: number): Promise<void> {
		return new Promise((resolve) => {
			const check = () => {
				if (this.answered.filter((one) => one === method).length < times) return;
				this.listeners.delete(check);
				resolve();
			};
			this.listeners.add(check);
			check();
		});
	}

	callsOf(method: string): Frame[] {
		return this.calls.filter((call) => call.method === method).map(({ args }) => args);
	}

	/** Options for createClient. */
	get options(): Pick<ClientOptions, 'WebSocket' | 'fetch'> {
		return { WebSocket: this.socketClass(), fetch: this.fetch as typeof fetch };
	}

	private readonly fetch = async (input: string, init: RequestInit): Promise<Response> => {
		const method = new URL(input).pathname.replace('/api/', '');
		if (this.isOffline || this.isLost(method, 'before')) throw new TypeError('no network');
		this.calls.push({ method, args: typeof init.body === 'string' ? JSON.parse(init.body) : {} });
		const response = await fetch(input, init);
		this.answered.push(method);
		for (const listener of this.listeners) listener();
		if (this.held?.method === method) await this.held.released;
		if (this.isOffline || this.isLost(method, 'after')) throw new TypeError('no network');
		return response;
	};

	private isLost(method: string, when: 'before' | 'after'): boolean {
		if (this.fails(method, when)) return true;
		const { lost } = this;
		if (lost?.method !== method || lost.when !== when || lost.times === 0) return false;
		lost.times -= 1;
		return true;
	}

	private deliver(frame: Frame): boolean {
		const { dropped } = this;
		if (dropped && dropped.times > 0 && dropped.matches(frame)) {
			dropped.times -= 1;
			return false;
		}
		this.frames.push(frame);
		return true;
	}

	private socketClass() {
		const network = this;
		return class BreakableSocket implements WebSocketLike {
			onmessage: WebSocketLike['onmessage'] = null;
			onclose: WebSocketLike['onclose'] = null;
			onerror: WebSocketLike['onerror'] = null;
			private readonly socket: WebSocket;
			private isOver = false;

			constructor(url: string) {
				this.socket = new WebSocket(url);
				const end = (code: number, reason: string) => {
					if (this.isOver) return;
					this.isOver = true;
					network.open.delete(cut);
					this.socket.close();
					this.onclose?.({ code, reason });
				};
				const cut = () => end(1006, '');
				network.open.add(cut);
				this.socket.onclose = ({ code, reason }) => end(code, reason);
				this.socket.onmessage = ({ data }) => {
					const frame: Frame = JSON.parse(String(data));
					if (this.isOver || !network.deliver(frame)) return;
					this.onmessage?.({ data });
					if (!network.lastBeforeOffline?.(frame)) return;
					network.lastBeforeOffline = undefined;
					network.goOffline();
				};
				if (network.isOffline) queueMicrotask(cut);
			}

			send(data: string): void {
				network.sent.push(JSON.parse(data));
				this.socket.send(data);
			}

			close(): void {
				this.isOver = true;
				this.socket.close();
			}
		};
	}
}

/** Resolves when the store has the wanted value. */
export function until<T>(
	store: { subscribe(listener: () => void): () => void; getSnapshot(): T },
	isWanted: (value: T) => boolean,
): Promise<T> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(() => {
			end();
			reject(new Error(`timed out; the last value: ${JSON.stringify(store.getSnapshot())}`));
		}, 20_000);
		const check = () => {
			const value = store.getSnapshot();
			if (!isWanted(value)) return;
			end();
			resolve(value);
		};
		const stop = store.subscribe(check);
		const end = () => {
			clearTimeout(timer);
			stop();
		};
		check();
	});
}

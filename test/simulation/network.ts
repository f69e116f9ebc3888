import type { Process, Scheduler } from './scheduler.ts';
import { SimulatedSocket, type SocketHandlers } from './socket.ts';

/**
 * HTTP and WebSocket between simulated processes. Requests call the handlers that were passed to `Bun.serve`; each request and each answer
 * has its own delay. A process that dies resets its connections.
 */

export interface NetworkFaults {
	/** Chance that a request does not arrive, and that an answer does not. */
	lostRequest: number;
	lostAnswer: number;
	/** Longest delay in one direction, in ms. */
	slowest: number;
}

interface ServeOptions {
	readonly fetch: (request: Request, server: unknown) => Response | undefined | Promise<Response | undefined>;
	readonly websocket?: SocketHandlers;
}

interface Listener {
	readonly process: Process;
	readonly options: ServeOptions;
	readonly server: unknown;
	stopped: boolean;
}

export class ConnectionReset extends Error {}

/** A change that a server has acknowledged. */
export interface AnsweredChange {
	readonly method: string;
	/** '' if it concerns no single conversation. */
	readonly conversation: string;
	readonly user: string;
}

/** Conditions for `afterAnswer`. */
export const isAnyChange = (): boolean => true;
export const isMark = ({ method }: AnsweredChange): boolean => /mark/i.test(method);

/** When a caller notices that its request or the answer was lost. */
const NOTICED_MS = 2_000;
/** Methods that change nothing. */
const READS = /counts|history|members|unreads|getView|explain|list|conversations$|connect|replies/;

export class Network {
	readonly faults: NetworkFaults = { lostRequest: 0, lostAnswer: 0, slowest: 2 };
	readonly sockets = new Set<SimulatedSocket>();
	/** Users by their tokens. */
	readonly users = new Map<string, string>();
	/** Messages as devices received them. */
	readonly frames: { readonly client: Process; readonly frame: { channel: string; ts: string } }[] = [];
	/** Called when a server has answered a request that changed something, before the answer arrives. */
	onAnswered: ((change: AnsweredChange) => void) | null = null;
	/** Counts an injected fault, by name. */
	readonly tally: (fault: string) => void;
	private readonly listeners = new Map<string, Listener>();
	private readonly upgrades = new WeakMap<Request, unknown>();

	constructor(
		readonly scheduler: Scheduler,
		tally: (fault: string) => void,
	) {
		this.tally = tally;
	}

	/** `Bun.serve` of a process: clients reach it by the name of the process. */
	serve(process: Process, options: unknown): unknown {
		const server = {
			hostname: process.name,
			port: 80,
			requestIP: () => ({ address: '10.0.0.1' }),
			upgrade: (request: Request, { data }: { readonly data: unknown }) => {
				this.upgrades.set(request, data);
				return true;
			},
			stop: async () => {
				listener.stopped = true;
			},
		};
		const listener: Listener = { process, options: options as ServeOptions, server, stopped: false };
		this.listeners.set(process.name, listener);
		return server;
	}

	arrived(client: Process, text: string): void {
		const frame = JSON.parse(text);
		this.scheduler.reached(`event ${frame.type}${frame.subtype ? ` ${frame.subtype}` : ''}`);
		const isPost = frame.subtype === undefined || frame.subtype === 'thread_broadcast';
		if (frame.type === 'message' && typeof frame.ts === 'string' && isPost)
			this.frames.push({ client, frame: { channel: frame.channel, ts: frame.ts } });
	}

	delay(): number {
		return this.scheduler.latency(0.1, this.faults.slowest);
	}

	/** Calls `act` within `withinMs` after the server has answered the next matching change. */
	afterAnswer(
		owner: Process,
		withinMs: number,
		isWanted: (change: AnsweredChange) => boolean,
		act: (change: AnsweredChange) => void,
	): void {
		const { scheduler } = this;
		this.onAnswered = (change) => {
			if (!isWanted(change)) return;
			this.onAnswered = null;
			scheduler.at(owner, scheduler.latency(0, withinMs), '', () => act(change));
		};
	}

	reaches(name: string): boolean {
		return this.listenerOf(name) !== undefined;
	}

	/** The `fetch` of a process, to servers by name. */
	fetchOf(caller: Process): typeof fetch {
		return ((address: string, init: RequestInit) => this.request(caller, address, init)) as typeof fetch;
	}

	private changeOf(method: string, { body, headers }: RequestInit): AnsweredChange {
		const [, conversation = ''] = /"channel":"(\w+)"/.exec(String(body ?? '')) ?? [];
		const token = new Headers(headers as never).get('authorization')?.replace('Bearer ', '') ?? '';
		return { method, conversation, user: this.users.get(token) ?? '' };
	}

	private listenerOf(name: string): Listener | undefined {
		const listener = this.listeners.get(name);
		return listener?.process.alive && !listener.stopped ? listener : undefined;
	}

	private request(caller: Process, address: string, init: RequestInit): Promise<Response> {
		const { scheduler } = this;
		const url = new URL(address);
		const what = url.pathname.slice(5);
		return new Promise((resolve, reject) => {
			let isOver = false;
			const end = (delayMs: number, label: string, settle: () => void): void => {
				if (isOver) return;
				isOver = true;
				scheduler.at(caller, delayMs, label, settle);
			};
			const reset = (why: string, delayMs = this.delay()): void => {
				scheduler.reached(`lost ${what}: ${why}`);
				end(delayMs, `${what}: ${why}`, () => reject(new ConnectionReset(why)));
			};
			if (scheduler.random.chance(this.faults.lostRequest)) {
				this.tally('lost request');
				reset('request lost', NOTICED_MS);
				return;
			}
			const listener = this.listenerOf(url.hostname);
			if (!listener) {
				reset('refused');
				return;
			}
			const { process, options, server } = listener;
			const died = () => reset('connection reset');
			process.onDeath.add(died);
			const arrived = async (): Promise<void> => {
				const headers = new Headers(init.headers as never);
				headers.set('host', url.host);
				headers.set('content-length', String(String(init.body ?? '').length));
				const request = new Request(address, { method: init.method, headers, body: init.body } as never);
				const answer = await options.fetch(request, server);
				const body = answer ? await answer.text() : '';
				process.onDeath.delete(died);
				const [status, answered] = [answer?.status ?? 500, answer?.headers];
				const [, refusal] = /"error":"(\w+)"/.exec(body) ?? [];
				scheduler.reached(
					refusal && !body.startsWith('{"ok":true') ? `refused ${what}: ${refusal}` : `answered ${what}`,
				);
				if (!refusal && !READS.test(what)) this.onAnswered?.(this.changeOf(what, init));
				if (scheduler.random.chance(this.faults.lostAnswer)) {
					this.tally('lost answer');
					reset('answer lost', NOTICED_MS);
				} else
					end(this.delay(), `${what} ${status} ${shortly(body)}`, () =>
						resolve(new Response(body, answered ? { status, headers: answered } : { status })),
					);
			};
			scheduler.at(process, this.delay(), `${what} ${shortly(String(init.body ?? ''))}`, () => {
				arrived().catch((error) => scheduler.fail(error));
			});
		});
	}

	/** The `WebSocket` class of a device. */
	webSocketOf(caller: Process): new (address: string) => SimulatedSocket {
		const open = (address: string): SimulatedSocket => {
			const socket = new SimulatedSocket(this, caller);
			void this.upgrade(socket, address);
			return socket;
		};
		return function WebSocketOfDevice(address: string) {
			return open(address);
		} as unknown as new (
			address: string,
		) => SimulatedSocket;
	}

	private async upgrade(socket: SimulatedSocket, address: string): Promise<void> {
		const { scheduler } = this;
		const url = new URL(address.replace(/^ws/, 'http'));
		const listener = this.listenerOf(url.hostname);
		if (!listener) {
			socket.drop();
			return;
		}
		const { process, options, server } = listener;
		socket.begin(process, options.websocket as SocketHandlers);
		scheduler.at(process, this.delay(), 'socket arrives', () => {
			const request = new Request(url.href, { headers: { upgrade: 'websocket', host: url.host } });
			Promise.resolve(options.fetch(request, server)).then(
				(refusal) => {
					if (refusal) socket.drop();
					else socket.accept(this.upgrades.get(request));
				},
				(error) => scheduler.fail(error),
			);
		});
	}
}

const SHOWN = 140;
export const shortly = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

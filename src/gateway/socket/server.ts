import type { Server, ServerWebSocket, WebSocketHandler } from 'bun';
import type { Admission } from '../../engine/ports/tickets.ts';
import { CLOSE_CODES, type CloseReason, Rejection } from '../../model/errors.ts';
import { SharedStrings } from '../../model/shared-strings.ts';
import type { Network } from '../../protocol/networks.ts';
import { AppSocket, MAX_APP_FRAME_BYTES } from '../apps/app-socket.ts';
import type { AppSockets } from '../apps/app-sockets.ts';
import { MAX_FORM_BYTES } from '../files/uploads.ts';
import { addForm } from '../http/body.ts';
import { clientAddress } from '../http/client-address.ts';
import { failure } from '../http/envelope.ts';
import { MAX_BUFFERED_BYTES } from '../http/incoming-body.ts';
import { type RequestTarget, requestTargetOf } from '../http/request-target.ts';
import { type Client, handle } from '../http/server.ts';
import type { Services } from '../services.ts';
import { closeAll } from './closing.ts';
import { RTM_ERRORS } from './frames.ts';
import { Lifetimes } from './lifetimes.ts';
import { type SessionParts, SocketSession } from './session.ts';
import { shedSlowest } from './slow-readers.ts';

/** The listener: HTTP and WebSocket on one port. No other file of the gateway starts a server. */

export interface Listening {
	readonly hostname: string;
	readonly port: number;
	/** Accepts no more requests, closes sockets a few at a time, and waits for running work. */
	stop(): Promise<void>;
}

/** The admission of a socket, or the reason to reject it. */
interface Opening {
	readonly admission: Admission | CloseReason;
	readonly address: string | null;
}

/** The session replaces the opening once it exists. */
type SocketData = Opening | SocketSession | AppSocket;

export interface ListenOptions {
	readonly hostname: string;
	readonly port: number;
	/** Unique among the gateways; connection ids begin with it. */
	readonly gateway: string;
	/** A client with more unread output is disconnected; it resumes. */
	readonly maxBufferedBytes: number;
	/** The limit for all sockets together: the slowest clients are disconnected. */
	readonly maxTotalBufferedBytes: number;
	/** Maximum at this gateway. The server closes further sockets with a code after which clients do not reconnect. */
	readonly socketsPerUser: number;
	/**
	 * Maximum at this gateway. The server closes further sockets after a pause, with a code after which clients retry: other users
	 * may hold the open ones.
	 */
	readonly socketsPerAddress: number;
	/** Proxies whose X-Forwarded-For names the client. */
	readonly trustedProxies: readonly Network[];
	readonly nowMs: () => number;
}

const IDLE_SECONDS = 120;
/** A socket that cannot be served now is closed after this delay, spread so that clients do not return together. */
const CLOSE_AFTER_MS = { least: 1_000, spread: 2_000 };
const RTM_PATH = '/rtm';
const SOCKET_MODE_PATH = '/link/';
const SWEEP_EVERY_MS = 500;

export interface ListenParts extends SessionParts {
	readonly appSockets: AppSockets;
}

export function listen(options: ListenOptions, parts: ListenParts): Listening {
	const { services, hub } = parts;
	const sockets = new Sockets(options, parts);
	const clientOf = (request: Request): Client => {
		let known: string | null | undefined;
		return {
			// Looked up on first use: a request with a cached token needs no address, and a finished request has none.
			get address() {
				if (known === undefined) known = addressOf(request);
				return known;
			},
		};
	};
	const addressOf = (request: Request): string | null => {
		const peer = server.requestIP(request)?.address ?? null;
		return clientAddress(peer, request.headers.get('x-forwarded-for'), options.trustedProxies);
	};
	const sweeping = setInterval(() => {
		services.bodyMemory.sweep();
		services.answerMemory.sweep();
		shedSlowest((visit) => hub.eachConnection(visit), options.maxTotalBufferedBytes);
	}, SWEEP_EVERY_MS);
	sweeping.unref?.();
	const server = Bun.serve<SocketData>({
		hostname: options.hostname,
		port: options.port,
		idleTimeout: IDLE_SECONDS,
		// Only uploads are that large; every other reader of a body has its own limit, and Bun buffers only about the first
		// megabyte of a body that is not read.
		maxRequestBodySize: Math.max(MAX_BUFFERED_BYTES, (services.files?.maxFileBytes ?? 0) + MAX_FORM_BYTES),
		// Bun's development page would show source code and paths to anyone who makes a handler fail.
		development: false,
		error(error) {
			services.operations.failed('http', error);
			return failure(new Rejection('internal_error'));
		},
		fetch(request, self) {
			const target = requestTargetOf(request.url);
			if (request.headers.get('upgrade') !== null && (isRtm(target.path) || isSocketMode(target.path)))
				return upgrade(target, request, clientOf(request).address, self, services);
			return handle(request, services, clientOf(request));
		},
		websocket: {
			// Sessions accept only smaller frames, and answer larger ones with an error.
			maxPayloadLength: MAX_APP_FRAME_BYTES,
			backpressureLimit: options.maxBufferedBytes,
			closeOnBackpressureLimit: true,
			idleTimeout: IDLE_SECONDS,
			perMessageDeflate: false,
			...sockets.handlers,
		},
	});
	return {
		hostname: server.hostname ?? options.hostname,
		port: server.port ?? options.port,
		stop: async () => {
			sockets.stop();
			clearInterval(sweeping);
			parts.heartbeat.stop();
			const drained = server.stop(false);
			await Promise.all([closeAll(hub.connections()), parts.appSockets.stop()]);
			await sockets.ended();
			await Promise.race([drained, Bun.sleep(2_000)]);
			await server.stop(true);
		},
	};
}

/** What Bun's server calls for each socket: finds the session or app socket and passes the call on. */
class Sockets {
	private readonly lifetimes: Lifetimes;
	private readonly addresses = new SocketAddresses();
	/** Keeps equal origins and addresses in memory once for all sockets. */
	private readonly strings = new SharedStrings();
	/** Running clean-ups of sessions whose socket has closed. */
	private readonly ending = new Set<Promise<void>>();
	private nextConnection = 1;

	constructor(
		private readonly options: ListenOptions,
		private readonly parts: ListenParts,
	) {
		this.lifetimes = new Lifetimes(options.nowMs);
	}

	readonly handlers: Pick<
		WebSocketHandler<SocketData>,
		'open' | 'message' | 'drain' | 'ping' | 'pong' | 'close'
	> = {
		open: (socket) => this.open(socket),
		message: (socket, frame) => {
			const text = typeof frame === 'string' ? frame : frame.toString();
			if (socket.data instanceof AppSocket) socket.data.receive(text);
			else sessionOf(socket)?.receive(text);
		},
		drain: (socket) => sessionOf(socket)?.drained(),
		ping: (socket) => {
			if (socket.data instanceof AppSocket) socket.data.noteAlive();
			else sessionOf(socket)?.pinged();
		},
		pong: (socket, data) => {
			if (socket.data instanceof AppSocket) socket.data.noteAlive();
			else sessionOf(socket)?.ponged(data.toString());
		},
		close: (socket) => this.closed(socket),
	};

	stop(): void {
		this.lifetimes.stop();
	}

	async ended(): Promise<void> {
		await Promise.all(this.ending);
	}

	private open(socket: ServerWebSocket<SocketData>): void {
		if (socket.data instanceof SocketSession || socket.data instanceof AppSocket) return;
		const { admission, address } = socket.data;
		if (typeof admission === 'string') {
			// `going_away`: the ticket could not be looked up. Other rejections are final, so clients do not reconnect at once.
			if (admission === 'going_away') afterPause(() => reject(socket, admission));
			else reject(socket, admission);
			return;
		}
		if (this.addresses.count(address) >= this.options.socketsPerAddress) {
			afterPause(() => reject(socket, 'crowded_address'));
			return;
		}
		if (admission.app !== undefined) {
			this.opened(socket, this.parts.appSockets.open(socket, admission), address);
			return;
		}
		const id = `${this.options.gateway}-${this.nextConnection}`;
		this.nextConnection += 1;
		const { origin = this.parts.services.publicUrl ?? '' } = admission;
		const session = new SocketSession(id, admission, this.strings.of(origin), socket, this.parts);
		// Before the start, which may close the socket.
		this.opened(socket, session, address);
		this.start(session, admission);
	}

	private opened(
		socket: ServerWebSocket<SocketData>,
		data: SocketSession | AppSocket,
		address: string | null,
	): void {
		socket.data = data;
		data.address = address === null ? null : this.strings.of(address);
		this.addresses.opened(address);
	}

	private start(session: SocketSession, admission: Admission): void {
		const { user, expiresAt } = admission;
		const { hub, services } = this.parts;
		const { connection } = session;
		if (hub.socketsOf(user.id) >= this.options.socketsPerUser) connection.close('too_many_sockets');
		else this.lifetimes.began(connection, expiresAt);
		if (connection.isClosed) return;
		session.start(admission).catch((error) => {
			services.operations.failed('rtm.start_session', error);
			afterPause(() => {
				if (!connection.isClosed) connection.close('going_away');
			});
		});
	}

	private closed(socket: ServerWebSocket<SocketData>): void {
		if (socket.data instanceof AppSocket) {
			this.addresses.closed(socket.data.address);
			this.parts.appSockets.closed(socket.data);
			return;
		}
		const session = sessionOf(socket);
		if (!session) return;
		this.lifetimes.ended(session.connection);
		this.addresses.closed(session.address);
		const ended = session.end().catch((error) => {
			this.parts.services.operations.failed('rtm.end_session', error);
		});
		this.ending.add(ended);
		ended.finally(() => this.ending.delete(ended));
	}
}

/** Slack's clients reconnect as soon as a socket closes, and would fail again at once. */
function afterPause(close: () => void): void {
	const pauseMs = CLOSE_AFTER_MS.least + Math.random() * CLOSE_AFTER_MS.spread;
	setTimeout(close, pauseMs).unref?.();
}

/** Undefined if the socket was rejected. */
const sessionOf = ({ data }: ServerWebSocket<SocketData>): SocketSession | undefined =>
	data instanceof SocketSession ? data : undefined;

const isRtm = (path: string): boolean => path === RTM_PATH || path.startsWith(`${RTM_PATH}/`);

const isSocketMode = (path: string): boolean => path.startsWith(SOCKET_MODE_PATH);

/** The ticket is in the path, or in the query, where older gateways put it. */
function ticketOf({ path, query }: RequestTarget): string {
	if (isSocketMode(path)) return path.slice(SOCKET_MODE_PATH.length);
	if (path.length > RTM_PATH.length + 1) return path.slice(RTM_PATH.length + 1);
	try {
		const ticket = addForm(new Map(), query).get('ticket');
		return typeof ticket === 'string' ? ticket : '';
	} catch {
		return '';
	}
}

/**
 * Accepts the upgrade even with a bad ticket: Slack's clients retry a rejected upgrade without pause. Only an
 * address that repeatedly sends bad tickets is rejected, which no client library does.
 */
async function upgrade(
	target: RequestTarget,
	request: Request,
	address: string | null,
	server: Server<SocketData>,
	services: Services,
): Promise<Response | undefined> {
	const admission = checkKind(await admissionOf(ticketOf(target), services), isSocketMode(target.path));
	if (admission === 'bad_ticket') {
		const wait = services.anonymousLimits.waitOf(address);
		if (wait > 0) return failure(new Rejection('ratelimited', undefined, wait));
		services.anonymousLimits.failed(address);
	}
	if (server.upgrade(request, { data: { admission, address } })) return undefined;
	return new Response('this address accepts WebSocket connections only', { status: 426 });
}

/** A Socket Mode ticket cannot open an RTM socket, and vice versa. */
const checkKind = (admission: Admission | CloseReason, isOfApp: boolean): Admission | CloseReason =>
	typeof admission !== 'string' && (admission.app !== undefined) !== isOfApp ? 'bad_ticket' : admission;

async function admissionOf(
	ticket: string,
	{ tickets, operations }: Services,
): Promise<Admission | CloseReason> {
	try {
		return (await tickets.redeem(ticket)) ?? 'bad_ticket';
	} catch (error) {
		operations.failed('rtm.redeem_ticket', error);
		return 'going_away';
	}
}

function reject(socket: ServerWebSocket<SocketData>, reason: CloseReason): void {
	if (socket.readyState !== WebSocket.OPEN) return;
	const { code, meaning } = CLOSE_CODES[reason];
	if (reason === 'bad_ticket')
		socket.send(JSON.stringify({ type: 'error', error: { code: RTM_ERRORS.expired, msg: meaning } }));
	socket.close(code, meaning);
}

/** Counts open sockets per address. Sockets behind a proxy that names no client are not counted. */
class SocketAddresses {
	private readonly counts = new Map<string, number>();

	count(address: string | null): number {
		return address === null ? 0 : (this.counts.get(address) ?? 0);
	}

	opened(address: string | null): void {
		if (address === null) return;
		this.counts.set(address, this.count(address) + 1);
	}

	closed(address: string | null): void {
		if (address === null) return;
		const left = this.count(address) - 1;
		if (left > 0) this.counts.set(address, left);
		else this.counts.delete(address);
	}
}

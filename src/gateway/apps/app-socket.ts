import { withOrigin } from '../../protocol/addresses.ts';
import { type JsonObject, parseJsonObject } from '../../protocol/objects.ts';
import type { Socket } from '../socket/connection.ts';

/** One Socket Mode connection of an app: sends envelopes, receives acknowledgements. */

export interface Envelope {
	readonly type: 'events_api' | 'interactive' | 'slash_commands';
	readonly payload: JsonObject;
	readonly accepts_response_payload: boolean;
	readonly retry_attempt?: number;
	readonly retry_reason?: string;
}

export type EnvelopeResult =
	| { readonly type: 'acknowledged'; readonly payload: JsonObject | null }
	| { readonly type: 'timeout' }
	| { readonly type: 'disconnected' };

export type DisconnectReason = 'warning' | 'refresh_requested' | 'too_many_websockets' | 'link_disabled';

interface Waiting {
	readonly resolve: (result: EnvelopeResult) => void;
	readonly timer: ReturnType<typeof setTimeout>;
}

const NORMAL_CLOSURE = 1000;
/** An acknowledgement may contain a view, which may have 250 KB in Slack. The listener closes a socket that sends more. */
export const MAX_APP_FRAME_BYTES = 256 * 1024;

export class AppSocket {
	private readonly waiting = new Map<string, Waiting>();
	/** Checks since the client last sent anything. */
	silentChecks = 0;
	/** Set by the listener: the client's address; null: unknown. */
	address: string | null = null;
	private ended = false;
	/** The client was asked to reconnect: send nothing new over this socket. */
	private isClosing = false;

	constructor(
		readonly id: string,
		readonly app: string,
		readonly tokenKey: string,
		private readonly socket: Socket,
		private readonly newEnvelopeId: () => string,
		/** The address at which the app reaches the server, for links in its frames. */
		private readonly origin: string,
	) {}

	get isOpen(): boolean {
		return !this.ended && !this.isClosing;
	}

	/** Number of unacknowledged envelopes. */
	get load(): number {
		return this.waiting.size;
	}

	hello(connections: number, host: string): void {
		this.write({
			type: 'hello',
			num_connections: connections,
			debug_info: { host, build_number: 1, approximate_connection_time: 86_400 },
			connection_info: { app_id: this.app },
		});
	}

	/** Resolves when the app acknowledges, the time is over, or the socket closes. */
	send(envelope: Envelope, withinMs: number): Promise<EnvelopeResult> {
		if (!this.isOpen) return Promise.resolve({ type: 'disconnected' });
		const id = this.newEnvelopeId();
		return new Promise((resolve) => {
			const timer = setTimeout(() => this.finish(id, { type: 'timeout' }), withinMs);
			this.waiting.set(id, { resolve, timer });
			this.write({ envelope_id: id, ...envelope });
		});
	}

	receive(frame: string): void {
		this.silentChecks = 0;
		const { envelope_id: id, payload } = parseJsonObject(frame) ?? {};
		if (typeof id !== 'string') return;
		const answer = typeof payload === 'object' && payload !== null ? (payload as JsonObject) : null;
		this.finish(id, { type: 'acknowledged', payload: answer });
	}

	noteAlive(): void {
		this.silentChecks = 0;
	}

	ping(): void {
		if (!this.ended) this.socket.ping('');
	}

	/** Asks the client to reconnect. After `warning`, the client keeps this socket until the server closes it. */
	disconnect(reason: DisconnectReason, host: string): void {
		if (this.ended) return;
		this.isClosing = true;
		this.write({ type: 'disconnect', reason, debug_info: { host } });
	}

	close(): void {
		if (this.ended) return;
		this.socket.close(NORMAL_CLOSURE, '');
		this.closed();
	}

	closed(): void {
		this.ended = true;
		for (const id of [...this.waiting.keys()]) this.finish(id, { type: 'disconnected' });
	}

	private finish(id: string, result: EnvelopeResult): void {
		const waiting = this.waiting.get(id);
		if (!waiting) return;
		this.waiting.delete(id);
		clearTimeout(waiting.timer);
		waiting.resolve(result);
	}

	private write(frame: JsonObject): void {
		this.socket.send(withOrigin(this.origin, JSON.stringify(frame)));
	}
}

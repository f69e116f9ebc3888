import { client } from './api.ts';

/** A minimal Socket Mode client: acknowledges events as the test says, and reconnects when its socket closes. */

export interface Envelope {
	readonly envelope_id?: string;
	readonly type: string;
	readonly reason?: string;
	readonly num_connections?: number;
	readonly retry_attempt?: number;
	// biome-ignore lint/suspicious/noExplicitAny: payloads are read as tests expect them to be
	readonly payload?: any;
}

/** Undefined: the client does not acknowledge. Null: it acknowledges without a payload. */
export type Answer = (envelope: Envelope) => object | null | undefined;

const RECONNECT_AFTER_MS = 100;

export class AppClient {
	readonly envelopes: Envelope[] = [];
	private socket: WebSocket | null = null;
	private isStopped = false;

	constructor(
		private readonly url: string,
		private readonly appToken: string,
		private readonly answer: Answer = () => null,
	) {}

	get events(): readonly Envelope[] {
		return this.envelopes.filter(({ type }) => type === 'events_api');
	}

	/** Resolves after the first hello, or when the socket closes before it. */
	async start(): Promise<this> {
		await this.connect();
		return this;
	}

	stop(): void {
		this.isStopped = true;
		this.socket?.close();
	}

	private async connect(): Promise<void> {
		const { url } = await client(this.url, this.appToken)('apps.connections.open');
		await new Promise<void>((resolve) => {
			const socket = new WebSocket(url);
			this.socket = socket;
			socket.onmessage = ({ data }) => {
				const envelope = JSON.parse(String(data)) as Envelope;
				this.envelopes.push(envelope);
				if (envelope.type === 'hello') resolve();
				const payload = envelope.envelope_id === undefined ? undefined : this.answer(envelope);
				if (payload === undefined) return;
				const acknowledgement = {
					envelope_id: envelope.envelope_id,
					...(payload === null ? {} : { payload }),
				};
				socket.send(JSON.stringify(acknowledgement));
			};
			socket.onclose = () => {
				resolve();
				if (!this.isStopped) setTimeout(() => this.reconnect(), RECONNECT_AFTER_MS);
			};
		});
	}

	private reconnect(): void {
		if (this.isStopped) return;
		this.connect().catch(() => setTimeout(() => this.reconnect(), RECONNECT_AFTER_MS));
	}
}

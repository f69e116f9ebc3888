import { connect, type Socket } from 'node:net';

/**
 * A WebSocket client written by hand, for what a correct library never does: it leaves pings unanswered, and can stop
 * reading while it keeps the connection, like a laptop whose lid was closed.
 */

const KEY = Buffer.from('0123456789abcdef').toString('base64');
const OPCODE = { text: 1, close: 8, ping: 9 } as const;
const MASK = Buffer.from([1, 2, 3, 4]);

export class RawClient {
	readonly frames: { readonly type?: string; readonly reply_to?: number; readonly text?: string }[] = [];
	pings = 0;
	/** The code of the close frame; null if none arrived. */
	closeCode: number | null = null;
	private unread: Buffer = Buffer.alloc(0);
	private nextId = 100;

	private constructor(private readonly socket: Socket) {}

	/** Resolves after hello. */
	static async open(url: string): Promise<RawClient> {
		const { hostname, port, pathname, search } = new URL(url);
		const socket = connect({ host: hostname, port: Number(port) });
		const client = new RawClient(socket);
		socket.on('error', () => undefined);
		socket.write(
			`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\n` +
				`Connection: Upgrade\r\nSec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
		);
		let isOpen = false;
		socket.on('data', (chunk: Buffer) => {
			client.unread = Buffer.concat([client.unread, chunk]);
			const end = isOpen ? -1 : client.unread.indexOf('\r\n\r\n');
			if (!isOpen && end < 0) return;
			if (!isOpen) client.unread = client.unread.subarray(end + 4);
			isOpen = true;
			client.read();
		});
		await client.until(() => client.frames.some(({ type }) => type === 'hello'));
		return client;
	}

	/** Sends a frame and waits for its answer. */
	async ask(frame: object): Promise<void> {
		this.nextId += 1;
		const id = this.nextId;
		this.write(JSON.stringify({ id, ...frame }));
		await this.until(() => this.frames.some(({ reply_to }) => reply_to === id));
	}

	/** Reads nothing more, and sends nothing. */
	hang(): void {
		this.socket.pause();
	}

	end(): void {
		this.socket.destroy();
	}

	async until(condition: () => boolean): Promise<void> {
		for (let tries = 0; !condition(); tries += 1) {
			if (tries === 3_000)
				throw new Error(`timed out; the last frame: ${JSON.stringify(this.frames.at(-1))}`);
			await Bun.sleep(10);
		}
	}

	private write(text: string): void {
		const payload = Buffer.from(text);
		for (let index = 0; index < payload.length; index += 1)
			payload[index] = (payload[index] as number) ^ (MASK[index % 4] as number);
		const length =
			payload.length < 126
				? [0x80 | payload.length]
				: [0x80 | 126, payload.length >> 8, payload.length & 255];
		this.socket.write(Buffer.concat([Buffer.from([0x80 | OPCODE.text, ...length]), MASK, payload]));
	}

	private read(): void {
		for (;;) {
			const [first = 0, second = 0] = this.unread;
			const short = second & 0x7f;
			const head = short === 126 ? 4 : short === 127 ? 10 : 2;
			if (this.unread.length < head) return;
			const length =
				short === 126
					? this.unread.readUInt16BE(2)
					: short === 127
						? Number(this.unread.readBigUInt64BE(2))
						: short;
			if (this.unread.length < head + length) return;
			const payload = this.unread.subarray(head, head + length);
			this.unread = this.unread.subarray(head + length);
			this.take(first & 0x0f, payload);
		}
	}

	private take(opcode: number, payload: Buffer): void {
		if (opcode === OPCODE.text) this.frames.push(JSON.parse(payload.toString()));
		else if (opcode === OPCODE.ping) this.pings += 1;
		else if (opcode === OPCODE.close) this.closeCode = payload.readUInt16BE(0);
	}
}

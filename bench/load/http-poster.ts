import type { Socket } from 'bun';
import type { LoadSpec, Quota } from './posts.ts';

/**
 * Calls chat.postMessage over one persistent connection, one request at a time. The request is built beforehand. The
 * poster reads only enough of an answer to find its end and whether it is ok.
 */

const HEAD_END = '\r\n\r\n';
const LENGTH = /content-length: (\d+)/i;
const OK = '{"ok":true';

export class HttpPoster {
	private received = '';
	private sentAt = 0;
	private socket: Socket | undefined;

	private constructor(
		private readonly before: string,
		private readonly after: string,
		private readonly withId: boolean,
		private nextId: number,
		private readonly quota: Quota,
	) {}

	static async open(
		spec: LoadSpec,
		{ token, channel, firstId }: LoadSpec['connections'][number],
		quota: Quota,
	): Promise<HttpPoster> {
		const { clientMsgIds, text, port } = spec;
		const start = JSON.stringify({ channel, text }).slice(0, -1) + (clientMsgIds ? ',"client_msg_id":"' : '');
		const end = clientMsgIds ? '"}' : '}';
		const length = Buffer.byteLength(start + end) + (clientMsgIds ? String(firstId).length : 0);
		const head = [
			'POST /api/chat.postMessage HTTP/1.1',
			`Host: 127.0.0.1:${port}`,
			`Authorization: Bearer ${token}`,
			'Content-Type: application/json; charset=utf-8',
			`Content-Length: ${length}`,
		].join('\r\n');
		const poster = new HttpPoster(`${head}${HEAD_END}${start}`, end, clientMsgIds, firstId, quota);
		poster.socket = await Bun.connect({
			hostname: '127.0.0.1',
			port,
			socket: {
				data: (_, bytes) => poster.take(bytes),
				close: () => poster.lost(),
			},
		});
		return poster;
	}

	fill(): void {
		if (this.quota.take(1) === 0) return;
		this.nextId += 1;
		this.sentAt = performance.now();
		this.socket?.write(this.withId ? this.before + this.nextId + this.after : this.before + this.after);
	}

	private take(bytes: Buffer): void {
		this.received += bytes.toString('latin1');
		const headEnd = this.received.indexOf(HEAD_END);
		if (headEnd < 0) return;
		const length = Number(LENGTH.exec(this.received)?.[1]);
		if (this.received.length < headEnd + HEAD_END.length + length) return;
		const ok = this.received.startsWith(OK, headEnd + HEAD_END.length);
		this.received = '';
		this.quota.answered(ok, performance.now() - this.sentAt);
		this.fill();
	}

	private lost(): void {
		process.exit(1);
	}
}

import {
	createSecureServer,
	type Http2SecureServer,
	type IncomingHttpHeaders,
	type ServerHttp2Stream,
} from 'node:http2';
import { importJWK, jwtVerify } from 'jose';
import { FakeBrowser } from './fake-browser.ts';
import type { Phones } from './fake-devices.ts';
import { type Faults, FaultyTokens } from './fake-faults.ts';

/**
 * A fake push service (RFC 8030) and its browsers: HTTP/2 over TLS. Checks the sender's signature (RFC 8292) and every
 * header, and decrypts pushes as the browser would.
 */

export interface FakeWebPushOptions {
	readonly key: string;
	readonly cert: string;
	readonly phones: Phones;
	readonly faults: Faults;
}

interface Answer {
	readonly status: number;
	readonly retryAfter?: string | undefined;
}

const DAY_S = 24 * 60 * 60;

export class FakeWebPush {
	readonly server: Http2SecureServer;
	connections = 0;
	/** By browser: the pushes that it got, as the service worker sees them. */
	readonly payloads = new Map<string, string[]>();
	/** Texts for everything that a real service would reject; must be empty. */
	readonly wrong: string[] = [];
	/** The JWTs that were received. */
	readonly tokens = new Set<string>();
	private readonly browsers = new Map<string, FakeBrowser>();
	private readonly faulty = new FaultyTokens();
	private origin = '';

	constructor(private readonly options: FakeWebPushOptions) {
		const { key, cert } = options;
		this.server = createSecureServer({ key, cert, settings: { maxConcurrentStreams: 100 } });
		this.server.on('session', (session) => {
			this.connections += 1;
			session.on('error', () => undefined);
		});
		this.server.on('stream', (stream, headers) => {
			const chunks: Buffer[] = [];
			stream.on('error', () => undefined);
			stream.on('data', (chunk: Buffer) => chunks.push(chunk));
			stream.on('end', () => void this.take(stream as ServerHttp2Stream, headers, Buffer.concat(chunks)));
		});
	}

	listeningAt(origin: string): void {
		this.origin = origin;
	}

	/** Subscribes a browser, and names the only server that may send to it. */
	subscribe(name: string, serverKey: string): string {
		const browser = new FakeBrowser(`${this.origin}/push/${name}`, serverKey);
		this.browsers.set(name, browser);
		return browser.subscription();
	}

	/** The same for senders with an older HTTP version. */
	async fetch(request: Request): Promise<Response> {
		const headers = Object.fromEntries(request.headers);
		const pseudo = { ':path': new URL(request.url).pathname, ':method': request.method };
		const body = Buffer.from(await request.arrayBuffer());
		const { status } = await this.answerOf({ ...headers, ...pseudo }, body);
		return new Response(null, { status });
	}

	private async take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, body: Buffer): Promise<void> {
		const { status, retryAfter } = await this.answerOf(headers, body);
		stream.respond({ ':status': status, ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) });
		// Real services repeat the address in their errors.
		stream.end(status === 201 ? '' : JSON.stringify({ code: status, message: headers[':path'] }));
	}

	private async answerOf(headers: IncomingHttpHeaders, body: Buffer): Promise<Answer> {
		const name = String(headers[':path']).replace('/push/', '');
		try {
			return await this.answerTo(name, headers, body);
		} catch (error) {
			this.wrong.push(`${name}: ${(error as Error).message}`);
			return { status: 400 };
		}
	}

	private async answerTo(name: string, headers: IncomingHttpHeaders, body: Buffer): Promise<Answer> {
		const browser = this.browsers.get(name);
		if (!browser) return { status: 404 };
		if (this.options.faults.revoked || !(await this.isSender(browser, String(headers.authorization))))
			return { status: 403 };
		const fault = this.faulty.of(name);
		if (fault)
			return { status: fault.reason === 'BadDeviceToken' ? 404 : fault.status, retryAfter: fault.retryAfter };
		if (body.length > 4_096) return { status: 413 };
		this.show(name, headers, browser.decrypt(body));
		return { status: 201 };
	}

	private async isSender({ serverKey }: FakeBrowser, authorization: string): Promise<boolean> {
		const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
		if (key !== serverKey) return false;
		const point = Buffer.from(key, 'base64url');
		const jwk = {
			kty: 'EC',
			crv: 'P-256',
			x: point.subarray(1, 33).toString('base64url'),
			y: point.subarray(33).toString('base64url'),
		};
		const { payload } = await jwtVerify(token, await importJWK(jwk, 'ES256'), {
			algorithms: ['ES256'],
			audience: this.origin,
			requiredClaims: ['exp', 'sub'],
		});
		if ((payload.exp ?? 0) > Date.now() / 1000 + DAY_S) throw new Error('the JWT lasts longer than a day');
		if (!/^(mailto:[^@]+@.+|https:\/\/.+)$/.test(payload.sub ?? '')) throw new Error('nobody to write to');
		this.tokens.add(token);
		return true;
	}

	private show(name: string, headers: IncomingHttpHeaders, payload: string): void {
		const { phones } = this.options;
		const { type, title, body, tag, tags, channel, ts, badge } = JSON.parse(payload);
		if (headers[':method'] !== 'POST') throw new Error('not a POST');
		if (headers['content-encoding'] !== 'aes128gcm') throw new Error('another encoding');
		if (headers.ttl !== String(DAY_S)) throw new Error('another TTL');
		if (headers.urgency !== (type === 'message' ? 'high' : 'normal')) throw new Error('another urgency');
		const topic = headers.topic;
		if ((type === 'message' || topic !== undefined) && !/^[\w-]{1,32}$/.test(String(topic)))
			throw new Error('a topic that is none');
		if (type === 'message') phones.show(name, tag, `${channel} ${ts}`, { title, body }, badge);
		else if (type === 'withdrawn') phones.update(name, tags, badge);
		else throw new Error('an unknown type');
		const earlier = this.payloads.get(name);
		if (earlier) earlier.push(payload);
		else this.payloads.set(name, [payload]);
	}
}

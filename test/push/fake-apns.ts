import {
	constants,
	createSecureServer,
	type Http2SecureServer,
	type IncomingHttpHeaders,
	type ServerHttp2Stream,
} from 'node:http2';
import { importSPKI, jwtVerify } from 'jose';
import type { Phones } from './fake-devices.ts';
import { type Faults, FaultyTokens } from './fake-faults.ts';

/** A fake APNs: HTTP/2 over TLS, which checks signatures, claims and every header. */

export interface FakeApnsOptions {
	readonly key: string;
	readonly cert: string;
	readonly publicKey: string;
	readonly keyId: string;
	readonly teamId: string;
	readonly topic: string;
	readonly phones: Phones;
	readonly faults: Faults;
}

interface Rejected {
	readonly status: number;
	readonly reason: string;
	readonly retryAfter?: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;

export class FakeApns {
	readonly server: Http2SecureServer;
	connections = 0;
	/** The provider tokens that were received, and whether they are valid. */
	private readonly tokens = new Map<string, Promise<string | null>>();
	private readonly faulty = new FaultyTokens();
	private requests = 0;

	constructor(private readonly options: FakeApnsOptions) {
		const { key, cert } = options;
		this.server = createSecureServer({ key, cert, settings: { maxConcurrentStreams: 1_000 } });
		this.server.on('session', (session) => {
			this.connections += 1;
			session.on('error', () => undefined);
		});
		this.server.on('sessionError', () => undefined);
		this.server.on('stream', (stream, headers) => this.take(stream as ServerHttp2Stream, headers));
	}

	get providerTokens(): number {
		return this.tokens.size;
	}

	private take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
		const { faults } = this.options;
		this.requests += 1;
		stream.on('error', () => undefined);
		const { session } = stream;
		if (faults.goAwayEvery > 0 && this.requests % faults.goAwayEvery === 0 && session) {
			// This stream and later ones were not processed; earlier ones are answered.
			session.goaway(0, Math.max(0, (stream.id ?? 1) - 2));
			return;
		}
		let body = '';
		stream.setEncoding('utf8');
		stream.on('data', (chunk: string) => {
			body += chunk;
		});
		stream.on('end', () => {
			void this.answer(stream, headers, body, this.requests).catch(() => stream.close());
		});
	}

	private async answer(
		stream: ServerHttp2Stream,
		headers: IncomingHttpHeaders,
		body: string,
		number: number,
	): Promise<void> {
		const { cutEvery } = this.options.faults;
		if (headers['apns-topic'] === 'org.example.reset')
			return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
		const rejected = (await this.rejectionOf(headers)) ?? this.record(headers, body);
		if (cutEvery > 0 && number % cutEvery === 0) {
			stream.session?.destroy();
			return;
		}
		if (stream.destroyed || stream.closed) return;
		if (!rejected) {
			stream.respond({ ':status': 200, 'apns-id': String(headers['apns-id'] ?? '') || crypto.randomUUID() });
			stream.end();
			return;
		}
		const { status, reason, retryAfter } = rejected;
		stream.respond({ ':status': status, ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) });
		stream.end(JSON.stringify({ reason }));
	}

	private async rejectionOf(headers: IncomingHttpHeaders): Promise<Rejected | null> {
		const { faults, topic } = this.options;
		if (faults.revoked) return { status: 403, reason: 'InvalidProviderToken' };
		const wrong = await this.check(/^bearer (.+)$/.exec(String(headers.authorization))?.[1] ?? '');
		if (wrong !== null) return { status: 403, reason: wrong };
		if (headers[':method'] !== 'POST') return { status: 405, reason: 'MethodNotAllowed' };
		if (headers['apns-topic'] === 'org.example.forbidden')
			return { status: 403, reason: 'InvalidProviderToken' };
		if (headers['apns-topic'] !== topic) return { status: 400, reason: 'BadTopic' };
		const fault = this.faulty.of(tokenIn(headers));
		return fault;
	}

	private check(token: string): Promise<string | null> {
		let known = this.tokens.get(token);
		if (!known) {
			known = this.verify(token).then(
				() => null,
				() => 'InvalidProviderToken',
			);
			this.tokens.set(token, known);
		}
		return known;
	}

	private async verify(token: string): Promise<void> {
		const { publicKey, keyId, teamId } = this.options;
		const { payload, protectedHeader } = await jwtVerify(token, await importSPKI(publicKey, 'ES256'), {
			algorithms: ['ES256'],
			issuer: teamId,
			maxTokenAge: '1h',
		});
		if (protectedHeader.kid !== keyId || payload.iat === undefined) throw new Error('wrong key');
	}

	/** Null: accepted. */
	private record(headers: IncomingHttpHeaders, body: string): Rejected | null {
		const { phones } = this.options;
		const token = tokenIn(headers);
		const { aps, channel, ts, withdrawn } = JSON.parse(body);
		if (Buffer.byteLength(body) > 4_096) return { status: 413, reason: 'PayloadTooLarge' };
		const expiration = Number(headers['apns-expiration']);
		if (headers['apns-push-type'] !== 'alert' || !(expiration > Date.now() / 1000))
			return { status: 400, reason: 'BadExpirationDate' };
		if (withdrawn) {
			if (headers['apns-priority'] !== '5' || aps.alert || aps['content-available'] !== 1)
				return { status: 400, reason: 'BadPriority' };
			const names = withdrawn.map(
				(one: { channel: string; ts: string }) => `${one.channel}:${micros(one.ts)}`,
			);
			phones.update(token, names, aps.badge);
			return null;
		}
		const collapse = String(headers['apns-collapse-id'] ?? '');
		if (collapse === '' || collapse.length > 64) return { status: 400, reason: 'BadCollapseId' };
		if (headers['apns-priority'] !== '10' || !UUID.test(String(headers['apns-id'])))
			return { status: 400, reason: 'BadMessageId' };
		phones.show(token, collapse, `${channel} ${ts}`, aps.alert, aps.badge);
		return null;
	}
}

const tokenIn = (headers: IncomingHttpHeaders): string =>
	decodeURIComponent(String(headers[':path']).replace('/3/device/', ''));
const micros = (ts: string): string => ts.replace('.', '');

import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import { importSPKI, jwtVerify } from 'jose';
import type { Phones } from './fake-devices.ts';
import { type Faults, FaultyTokens } from './fake-faults.ts';

/** A fake of FCM's HTTP v1 API, and of the endpoint where a service account gets its token. */

export interface FakeFcmOptions {
	readonly key: string;
	readonly cert: string;
	readonly publicKey: string;
	readonly project: string;
	readonly email: string;
	readonly phones: Phones;
	readonly faults: Faults;
}

/** FCM's own error codes. */
const CODES: Readonly<Record<string, [status: number, code: string]>> = {
	Unregistered: [404, 'UNREGISTERED'],
	BadDeviceToken: [400, 'INVALID_ARGUMENT'],
	TooManyRequests: [429, 'QUOTA_EXCEEDED'],
	InternalServerError: [500, 'INTERNAL'],
};

export class FakeFcm {
	readonly server: Http2SecureServer;
	/** Number of JWTs exchanged for a token. */
	exchanges = 0;
	private readonly faulty = new FaultyTokens();

	constructor(private readonly options: FakeFcmOptions) {
		const { key, cert } = options;
		this.server = createSecureServer({ key, cert, settings: { maxConcurrentStreams: 100 } });
		this.server.on('session', (session) => session.on('error', () => undefined));
		this.server.on('stream', (stream, headers) => {
			let body = '';
			stream.setEncoding('utf8');
			stream.on('error', () => undefined);
			stream.on('data', (chunk: string) => {
				body += chunk;
			});
			stream.on('end', () => {
				this.send(stream as ServerHttp2Stream, String(headers[':path']), String(headers.authorization), body);
			});
		});
	}

	/** The address for `token_uri`. */
	async exchange(request: Request, address: string): Promise<Response> {
		const { faults, publicKey, email } = this.options;
		if (faults.revoked) return Response.json({ error: 'invalid_grant' }, { status: 400 });
		const form = new URLSearchParams(await request.text());
		try {
			const { payload } = await jwtVerify(form.get('assertion') ?? '', await importSPKI(publicKey, 'RS256'), {
				algorithms: ['RS256'],
				issuer: email,
				audience: address,
			});
			const lifetime = (payload.exp ?? 0) - (payload.iat ?? 0);
			const scope = 'https://www.googleapis.com/auth/firebase.messaging';
			const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
			if (lifetime > 3_600 || payload.scope !== scope || form.get('grant_type') !== grant)
				throw new Error('wrong claims');
		} catch {
			return Response.json({ error: 'invalid_grant' }, { status: 400 });
		}
		this.exchanges += 1;
		return Response.json({ access_token: `ya29.${this.exchanges}`, expires_in: 3_600, token_type: 'Bearer' });
	}

	private send(stream: ServerHttp2Stream, path: string, authorization: string, body: string): void {
		const { project, faults } = this.options;
		const known = !faults.revoked && authorization === `Bearer ya29.${this.exchanges}`;
		const { message } = JSON.parse(body);
		const fault = this.faulty.of(message.token);
		if (!known) reject(stream, 401, 'UNAUTHENTICATED');
		else if (path !== `/v1/projects/${project}/messages:send`) reject(stream, 404, 'NOT_FOUND');
		else if (fault) {
			const [status, code] = CODES[fault.reason] ?? [fault.status, fault.reason];
			reject(stream, status, code, fault.retryAfter);
		} else {
			this.record(message);
			stream.respond({ ':status': 200, 'content-type': 'application/json' });
			stream.end(JSON.stringify({ name: `projects/${project}/messages/1` }));
		}
	}

	// biome-ignore lint/suspicious/noExplicitAny: the wire's own shape
	private record({ token, notification, data, android, webpush }: any): void {
		const { phones } = this.options;
		const badge = Number(data.badge);
		if (!notification) {
			const withdrawn = JSON.parse(data.withdrawn) as { channel: string; ts: string }[];
			const names = withdrawn.map(({ channel, ts }) => `${channel}:${ts.replace('.', '')}`);
			phones.update(token, names, badge);
			return;
		}
		const { tag, notification_count } = android.notification;
		if (webpush.notification.tag !== tag || notification_count !== badge) throw new Error('they differ');
		phones.show(token, tag, `${data.channel} ${data.ts}`, notification, badge);
	}
}

function reject(stream: ServerHttp2Stream, status: number, code: string, retryAfter?: string): void {
	const details = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: code }];
	stream.respond({ ':status': status, ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) });
	stream.end(JSON.stringify({ error: { code: status, status: code, details } }));
}

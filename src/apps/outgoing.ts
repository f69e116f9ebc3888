import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { bitsOf, IPV4_PREFIX, isIn, type Network, networks } from '../protocol/networks.ts';

/**
 * Requests to the URLs of apps. The administrator chooses the URLs, but a name may resolve to any address:
 * link-local addresses, where clouds serve credentials, are never contacted, and private ones only if the operator
 * allows it. A name is resolved once and the request goes to a checked address, so a later change of the name has
 * no effect.
 */

/** Bun's fetch also takes the name that the certificate must be for. */
export type PinnedInit = RequestInit & { readonly tls?: { readonly serverName: string } };

export interface OutgoingParts {
	readonly fetch: (url: string, init: PinnedInit) => Promise<Response>;
	readonly allowsPrivate: boolean;
	/** Resolves a host to its addresses. */
	readonly resolve?: (host: string) => Promise<readonly string[]>;
}

export interface AppAnswer {
	readonly status: number;
	readonly text: string;
	readonly noRetry: boolean;
}

/** Why a request got no answer, as in Slack's X-Slack-Retry-Reason. */
export class RequestFailed extends Error {
	constructor(
		readonly reason:
			| 'http_timeout'
			| 'connection_failed'
			| 'ssl_error'
			| 'too_many_redirects'
			| 'not_allowed',
		message: string,
	) {
		super(message);
	}
}

const MAX_ANSWER_BYTES = 1_000_000;

const resolved = async (host: string): Promise<readonly string[]> =>
	(await lookup(host, { all: true })).map(({ address }) => address);

export class Outgoing {
	constructor(private readonly parts: OutgoingParts) {}

	/** Throws RequestFailed. Does not follow redirects. */
	async post(
		url: string,
		body: string,
		headers: Record<string, string>,
		timeoutMs: number,
	): Promise<AppAnswer> {
		const signal = AbortSignal.timeout(timeoutMs);
		try {
			const addresses = await unlessAborted(signal, this.checked(url));
			const init = { method: 'POST', body, headers, redirect: 'manual', signal } as const;
			const response = await this.sendTo(addresses, new URL(url), init);
			if (response.status >= 300 && response.status < 400)
				throw new RequestFailed('too_many_redirects', `HTTP ${response.status}: redirects are not followed`);
			const text = await textOf(response);
			return { status: response.status, text, noRetry: response.headers.get('x-slack-no-retry') === '1' };
		} catch (error) {
			if (error instanceof RequestFailed) throw error;
			throw failureOf(error as Error, timeoutMs);
		}
	}

	/** Sends to the first address that accepts a connection. */
	private async sendTo(addresses: readonly string[], url: URL, init: RequestInit): Promise<Response> {
		let problem = new Error('the name has no address');
		for (const address of addresses)
			try {
				return await this.parts.fetch(...pinned(url, address, init));
			} catch (error) {
				problem = error as Error;
				if (!isNotConnected(problem)) break;
			}
		throw problem;
	}

	/** Returns the addresses of the host, if the server may contact all of them. */
	private async checked(url: string): Promise<readonly string[]> {
		const host = unbracketed(new URL(url).hostname);
		const addresses = isIP(host) ? [host] : await this.addressesOf(host);
		for (const address of addresses) {
			if (isWithin(address, LINK_LOCAL))
				throw new RequestFailed('not_allowed', `${host}: link-local addresses are not allowed`);
			if (!this.parts.allowsPrivate && isWithin(address, PRIVATE))
				throw new RequestFailed(
					'not_allowed',
					`${host}: private addresses are not allowed (TIDEMARK_APP_PRIVATE_ADDRESSES)`,
				);
		}
		return addresses;
	}

	private async addressesOf(host: string): Promise<readonly string[]> {
		try {
			return await (this.parts.resolve ?? resolved)(host);
		} catch (error) {
			throw new RequestFailed('connection_failed', `${host}: ${(error as Error).message}`);
		}
	}
}

/** For work that cannot be cancelled, such as the look-up of a name. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
	return new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => reject(signal.reason), { once: true });
		work.then(resolve, reject);
	});
}

/** Stops reading at the limit: an endless answer must not fill the memory. */
async function textOf({ body }: Response): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	for await (const chunk of body ?? []) {
		bytes += chunk.length;
		if (bytes > MAX_ANSWER_BYTES) throw new RequestFailed('connection_failed', 'the answer is too large');
		chunks.push(chunk);
	}
	return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Directs the request to this address. */
function pinned(url: URL, address: string, init: RequestInit): [url: string, init: PinnedInit] {
	if (isIP(unbracketed(url.hostname))) return [url.href, init];
	const target = new URL(url);
	target.hostname = isIP(address) === 6 ? `[${address}]` : address;
	const headers = { ...(init.headers as Record<string, string>), host: url.host };
	const tls = url.protocol === 'https:' ? { tls: { serverName: url.hostname } } : {};
	return [target.href, { ...init, headers, ...tls }];
}

/** Whether the connection failed before anything was sent. */
const isNotConnected = (error: Error & { readonly code?: string }): boolean =>
	['ConnectionRefused', 'FailedToOpenSocket', 'ECONNREFUSED'].includes(error.code ?? '');

const unbracketed = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

function failureOf(error: Error, timeoutMs: number): RequestFailed {
	if (error.name === 'TimeoutError' || error.name === 'AbortError')
		return new RequestFailed('http_timeout', `no answer within ${timeoutMs / 1000} s`);
	const isTls = /certificate|ssl|tls/i.test(`${error.message} ${(error as { code?: string }).code ?? ''}`);
	return new RequestFailed(isTls ? 'ssl_error' : 'connection_failed', error.message);
}

const LINK_LOCAL = networks('169.254.0.0/16', 'fe80::/10');

/** Loopback, private networks, and addresses that no host on the internet has. */
const PRIVATE = networks(
	...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
	...['::', '::1', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48'],
);

/** IPv6 networks whose addresses lead to an IPv4 address, which starts after so many bits. */
const CARRIES_IPV4 = [
	{ within: networks('::/96', '::ffff:0:0:0/96', '64:ff9b::/96'), after: 96n },
	{ within: networks('2002::/16'), after: 16n },
];

function isWithin(address: string, forbidden: readonly Network[]): boolean {
	const bits = bitsOf(address);
	if (bits === undefined) return false;
	const carried = CARRIES_IPV4.filter(({ within }) => isIn(bits, within)).map(
		({ after }) => IPV4_PREFIX | ((bits >> (96n - after)) & 0xffff_ffffn),
	);
	return [bits, ...carried].some((one) => isIn(one, forbidden));
}

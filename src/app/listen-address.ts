/** The address that a server listens on, as text and as URLs. */

/** In URLs and before a port, an IPv6 address is in brackets. */
export const hostAndPort = (host: string, port: number): string =>
	host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`;

const SHOWN_AS_LOCALHOST: readonly string[] = ['0.0.0.0', '::', '127.0.0.1'];

/** The URL that is printed: it works on this machine. */
export const shownUrl = (host: string, port: number): string =>
	`http://${hostAndPort(SHOWN_AS_LOCALHOST.includes(host) ? 'localhost' : host, port)}`;

/** A server that listens on all addresses is reached at this one. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Reaches exactly the server on this address: another program may listen on another address of `localhost`. */
export const probeUrl = (host: string, port: number): string =>
	`http://${hostAndPort(LOOPBACK_OF[host] ?? host, port)}`;

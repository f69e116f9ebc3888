import type { ApiCall } from './api-client.ts';

/** Opens a socket like any RTM client: `rtm.connect`, then the returned address, then `hello`. */

export interface RtmFrame {
	readonly type?: string;
	readonly subtype?: string;
	readonly ok?: boolean;
	readonly reply_to?: number;
	readonly channel?: string;
	readonly text?: string;
	readonly ts?: string;
	readonly prev_ts?: string;
	readonly position?: string;
	readonly error?: { readonly code: number; readonly msg: string };
}

export interface RtmListener {
	frame(frame: RtmFrame): void;
	/** Called once, and only after `hello`. */
	closed(code: number, reason: string): void;
}

export interface RtmSocket {
	send(frame: Readonly<Record<string, unknown>>): void;
	close(): void;
}

const OPEN_TIMEOUT_MS = 10_000;
/** As often as the server pings a silent client by default. */
const PING_MS = 30_000;

/** Resolves after `hello`, which the listener receives first. `since`: the position to resume from. */
export async function openRtm(call: ApiCall, listener: RtmListener, since?: string): Promise<RtmSocket> {
	const { url } = await call<{ url: string }>('rtm.connect', since === undefined ? {} : { since });
	const socket = new WebSocket(url);
	const opened = Promise.withResolvers<void>();
	const address = new URL(url).origin;
	const timer = setTimeout(() => {
		opened.reject(
			new Error(
				`no hello within ${OPEN_TIMEOUT_MS / 1000} s on a socket to ${address}. Check the server's limit of open files and its load.`,
			),
		);
		socket.close();
	}, OPEN_TIMEOUT_MS);
	const ping = setInterval(() => socket.send('{"type":"ping"}'), PING_MS);
	let isOpen = false;
	socket.onmessage = ({ data }) => {
		const frame = JSON.parse(data as string) as RtmFrame;
		if (frame.type === 'hello') {
			isOpen = true;
			clearTimeout(timer);
			opened.resolve();
		}
		listener.frame(frame);
	};
	socket.onclose = ({ code, reason }) => {
		clearTimeout(timer);
		clearInterval(ping);
		if (isOpen) listener.closed(code, reason);
		else
			opened.reject(
				new Error(
					`a socket to ${address} was closed before hello (${code}${reason ? ` ${reason}` : ''}). If a proxy is in front of the server, it must forward WebSocket upgrades of /rtm.`,
				),
			);
	};
	await opened.promise;
	return {
		send: (frame) => void socket.send(JSON.stringify(frame)),
		close: () => {
			socket.onclose = null;
			clearInterval(ping);
			socket.close();
		},
	};
}

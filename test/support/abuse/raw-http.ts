import { connect } from 'node:net';

/** HTTP as bytes over TCP: fetch() would repair or reject what an attacker sends. */

const GIVE_UP_MS = 10_000;

export interface RawAnswer {
	readonly status: number;
	/** Headers and body, as received. */
	readonly text: string;
}

/** Sends the bytes and reads until the server closes, or until an answer with a Content-Length is complete. */
export function sendRaw(url: string, request: string | Uint8Array): Promise<RawAnswer> {
	const { hostname, port } = new URL(url);
	const chunks: Buffer[] = [];
	return new Promise((resolve, reject) => {
		const socket = connect({ host: hostname, port: Number(port) });
		const timer = setTimeout(() => finish(), GIVE_UP_MS);
		const finish = () => {
			clearTimeout(timer);
			socket.destroy();
			const text = Buffer.concat(chunks).toString('latin1');
			resolve({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0), text });
		};
		socket.on('connect', () => socket.write(request));
		socket.on('data', (chunk: Buffer) => {
			chunks.push(chunk);
			if (isComplete(Buffer.concat(chunks))) finish();
		});
		socket.on('close', finish);
		socket.on('error', (error: NodeJS.ErrnoException) =>
			error.code === 'ECONNREFUSED' ? reject(error) : finish(),
		);
	});
}

function isComplete(received: Buffer): boolean {
	const end = received.indexOf('\r\n\r\n');
	if (end < 0) return false;
	const head = received.subarray(0, end).toString('latin1');
	// For these tests, an accepted upgrade is a complete answer.
	if (/^HTTP\/1\.1 101/.test(head)) return true;
	const length = /content-length: (\d+)/i.exec(head)?.[1];
	return length !== undefined && received.length >= end + 4 + Number(length);
}

export const UPGRADE =
	'Upgrade: websocket\r\nConnection: Upgrade\r\n' +
	'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n';

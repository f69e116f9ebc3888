import { rawClient } from '../api.ts';
import type { Random } from '../oracle/random.ts';
import type { Cast } from './cast.ts';
import { Finding, inspect } from './findings.ts';
import { junkBytes, junkJson, junkText } from './junk.ts';
import { sendRaw, UPGRADE } from './raw-http.ts';

/** Sends frames with any content over an attacker's sockets, and bytes that are not frames. */

const TYPES = [
	'ping',
	'message',
	'typing',
	'presence_sub',
	'presence_query',
	'channel_focus',
	'channel_blur',
	'mark',
];
const FRAMES_PER_SOCKET = 25;
/** Close codes of docs/sockets.md, and those with which WebSocket itself rejects a frame. */
const isExpectedClose = (code: number): boolean =>
	(code >= 4000 && code < 4300) || (code >= 1000 && code <= 1015);
const PATIENCE_MS = 60_000;

/** Sends this many frames, and returns how many frames were received. */
export async function fuzzFrames(url: string, cast: Cast, random: Random, frames: number): Promise<number> {
	let received = 0;
	for (let sent = 0; sent < frames; sent += FRAMES_PER_SOCKET) {
		const socketUrl = await ticket(url, cast);
		if (socketUrl === null) return received;
		const batch = Array.from({ length: FRAMES_PER_SOCKET }, () => frameOf(cast, random));
		received += await exchange(socketUrl, batch, cast.foreign.users);
	}
	return received;
}

/** Null: the limit of connects is reached. */
async function ticket(url: string, { strangers }: Cast): Promise<string | null> {
	const { token } = strangers.at(-1) ?? { token: '' };
	const answer = await rawClient(url, token)('rtm.connect');
	if (answer.ok) return answer.url as string;
	if (answer.error === 'ratelimited') return null;
	throw new Finding(`rtm.connect: ${JSON.stringify(answer)}`);
}

/** Resolves when the last frame, a ping, is answered, or when the server has closed the socket with an expected code. */
function exchange(
	url: string,
	frames: readonly (string | Uint8Array<ArrayBuffer>)[],
	foreign: readonly string[],
): Promise<number> {
	return new Promise((resolve, reject) => {
		const sent = frames.map((frame) => String(frame).slice(0, 300)).join('\n');
		const socket = new WebSocket(url);
		let received = 0;
		const end = (problem?: unknown) => {
			clearTimeout(patience);
			socket.onclose = null;
			socket.close();
			if (problem === undefined) resolve(received);
			else reject(problem);
		};
		const patience = setTimeout(
			() => end(new Finding(`frames: neither answered nor closed in ${PATIENCE_MS} ms\n${sent}`)),
			PATIENCE_MS,
		);
		socket.onopen = () => {
			for (const frame of frames) socket.send(frame);
			socket.send('{"type":"ping","id":987654321}');
		};
		socket.onmessage = ({ data }) => {
			received += 1;
			try {
				inspect('frames', sent, String(data));
				if (/"presence_change"/.test(String(data)) && foreign.some((user) => String(data).includes(user)))
					throw new Finding(`frames: presence of a user of another workspace\n${String(data)}`);
			} catch (finding) {
				return end(finding);
			}
			if (String(data).includes('987654321')) end();
		};
		socket.onclose = ({ code }) =>
			end(isExpectedClose(code) ? undefined : new Finding(`frames: closed with ${code}\n${sent}`));
		socket.onerror = () => undefined;
	});
}

function frameOf({ foreign, own }: Cast, random: Random): string | Uint8Array<ArrayBuffer> {
	// An unreadable frame closes the socket, so it is rare: the server should process most frames.
	if (random.chance(0.02)) return junkBytes(random, random.below(200));
	if (random.chance(0.02)) return junkText(random);
	if (random.chance(0.01)) return `{"type":"ping","x":"${'x'.repeat(17_000)}"}`;
	const ids = random.chance(0.6) ? foreign : own;
	const fields: Record<string, string> = {
		id: random.chance(0.8) ? String(1_000 + random.below(1_000)) : junkJson(random, 3),
		type: random.chance(0.95) ? JSON.stringify(random.pick(TYPES)) : junkJson(random, 3),
		channel: random.chance(0.8) ? JSON.stringify(random.pick(ids.channels)) : junkJson(random, 3),
	};
	const more: Readonly<Record<string, () => string>> = {
		text: () => JSON.stringify(junkText(random)),
		ts: () => JSON.stringify(random.pick(ids.messages)),
		thread_ts: () => JSON.stringify(random.pick(ids.messages)),
		ids: () => JSON.stringify([random.pick(ids.users)]),
		revision: () => junkJson(random, 4),
		reply_broadcast: () => 'true',
		client_msg_id: () => junkJson(random, 4),
	};
	for (const [name, value] of Object.entries(more))
		if (random.chance(0.6)) fields[name] = random.chance(0.8) ? value() : junkJson(random, 3);
	return `{${Object.entries(fields)
		.map(([name, value]) => `"${name}":${value}`)
		.join(',')}}`;
}

/** Bytes after an upgrade that are not frames: wrong lengths, reserved bits, no mask. */
export async function fuzzRawFrames(
	url: string,
	cast: Cast,
	random: Random,
	connections: number,
): Promise<void> {
	for (let count = 0; count < connections; count += 1) {
		const socketUrl = await ticket(url, cast);
		if (socketUrl === null) return;
		const { pathname, search } = new URL(socketUrl);
		const head = `GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\n`;
		const bytes = Buffer.concat([Buffer.from(head), junkBytes(random, 20 + random.below(500))]);
		const { text, status } = await sendRaw(url, bytes);
		inspect('bytes after an upgrade', bytes.toString('latin1'), text, status);
	}
}

import type { Person } from '../people.ts';
import { inspect } from './findings.ts';
import type { OtherCall, Waited, Work } from './other-user.ts';
import { residentMb } from './slow-clients.ts';

/** Floods, and their effect on another user and on the server. */

export interface Noticed {
	/** The number of requests of the flood. */
	readonly requests: number;
	/** The largest memory of the whole process. */
	readonly peakMb: number;
	/** The waiting times of another user's calls, sorted. */
	readonly waitsMs: readonly number[];
}

export type Flood = (url: string, number: number) => Promise<unknown>;

const LARGE = 'x'.repeat(30_000);
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const send = async (url: string, init: RequestInit): Promise<void> => {
	const response = await fetch(url, init);
	inspect(
		'flood',
		url,
		(await response.text()).slice(0, 2_000),
		response.status === 503 ? 200 : response.status,
	);
};

/** Client addresses as a proxy names them: a few hundred attackers. */
const from = (number: number) => ({ 'x-forwarded-for': `198.51.${number % 3}.${number % 250}` });

/** Without a token, with unknown tokens, with large bodies, and with unknown tickets. */
export const anonymous: Flood = (url, number) => {
	switch (number % 4) {
		case 0:
			return send(`${url}/api/auth.test`, { headers: from(number) });
		case 1: {
			const headers = { ...from(number), authorization: `Bearer xoxp-${number}` };
			return send(`${url}/api/client.counts`, { headers });
		}
		case 2: {
			const headers = { ...from(number), ...FORM };
			return send(`${url}/api/chat.postMessage`, { method: 'POST', headers, body: `text=${LARGE}` });
		}
		default:
			return openAndDrop(`${url.replace('http', 'ws')}/rtm/none-${number}`, from(number));
	}
};

/** One user: large posts, large pages, many marks. */
export const authenticated = ({ token }: Person, channel: string): Flood => {
	const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
	const calls: readonly (readonly [string, object])[] = [
		['chat.postMessage', { channel, text: LARGE }],
		['conversations.history', { channel, limit: 1_000 }],
		['client.counts', {}],
		['conversations.mark', { channel, ts: '1700000000.000000' }],
		['conversations.unreads', { channel }],
	];
	return (url, number) => {
		const [method, args] = calls[number % calls.length] as (typeof calls)[number];
		return send(`${url}/api/${method}`, { method: 'POST', headers, body: JSON.stringify(args) });
	};
};

/** Connects repeatedly, and closes each socket as soon as it is open; or uses the same ticket twice. */
export const reconnects = ({ token }: Person): Flood => {
	return async (url, number) => {
		const headers = { authorization: `Bearer ${token}` };
		const answer = (await (await fetch(`${url}/api/rtm.connect`, { headers })).json()) as { url?: string };
		if (answer.url === undefined) return;
		await openAndDrop(answer.url, {});
		if (number % 2 === 0) await openAndDrop(answer.url, {});
	};
};

function openAndDrop(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
	return new Promise((resolve) => {
		const socket = new WebSocket(url, { headers });
		socket.onopen = () => socket.close();
		socket.onerror = () => resolve();
		socket.onclose = () => resolve();
	});
}

export interface OtherUser {
	readonly token: string;
	readonly calls: readonly OtherCall[];
}

/** Runs the flood for this long, with this many at once, while another user keeps working. */
export async function noticedDuring(
	url: string,
	flood: Flood,
	{ forMs, atOnce, other }: { forMs: number; atOnce: number; other: OtherUser },
): Promise<Noticed> {
	const end = performance.now() + forMs;
	const isOver = (): boolean => performance.now() >= end;
	let requests = 0;
	let peakMb = 0;
	const attack = async (): Promise<void> => {
		while (!isOver()) {
			requests += 1;
			await flood(url, requests);
		}
	};
	const watch = async (): Promise<void> => {
		do {
			peakMb = Math.max(peakMb, await residentMb(url));
			await Bun.sleep(100);
		} while (!isOver());
	};
	const waiting = waitsOf({ url, ...other, forMs });
	const [waitsMs] = await Promise.all([waiting, watch(), ...Array.from({ length: atOnce }, attack)]);
	return { requests, peakMb, waitsMs: waitsMs.toSorted((one, another) => one - another) };
}

async function waitsOf(work: Work): Promise<readonly number[]> {
	const worker = new Worker(new URL('./other-user.ts', import.meta.url));
	try {
		const waited = await new Promise<Waited>((resolve, reject) => {
			worker.onmessage = ({ data }: MessageEvent<Waited>) => resolve(data);
			worker.onerror = ({ message }) => reject(new Error(message));
			worker.postMessage(work);
		});
		if ('problem' in waited) throw new Error(`another user was rejected: ${waited.problem}`);
		return waited.waitsMs;
	} finally {
		worker.terminate();
	}
}

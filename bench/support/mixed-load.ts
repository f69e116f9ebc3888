import { api } from './api.ts';
import { inParts, tokenOf, userId, usersFrom } from './dataset.ts';
import { fraction, type LargeWorkspace } from './large-workspace.ts';
import { Listeners } from './listeners.ts';
import { ticketFor } from './load.ts';
import { paced, type Timed } from './paced.ts';
import type { Bench } from './scenario.ts';
import type { BenchServer } from './server.ts';

/** Posts, marks and counts of many users at steady rates, while sockets connect. */

export const RATES = { posts: 300, marks: 100, counts: 50 } as const;
export type Kind = keyof typeof RATES;
export const KINDS = Object.keys(RATES) as Kind[];
export type Round = Readonly<Record<Kind, readonly Timed[]>>;

/** Sockets that one process opens; tickets are valid only for a short time. */
const SOCKETS_A_PROCESS = 250;
/** Tickets that are requested at once. */
const TICKETS_AT_ONCE = 50;

export async function mixedLoad(
	bench: Bench,
	server: BenchServer,
	workspace: LargeWorkspace,
	{ sockets, seconds }: { readonly sockets: number; readonly seconds: number },
): Promise<Round> {
	const { channels } = workspace;
	const latest = channels.map((channel) => channel.latest);
	const pick = (salt: number, index: number) => {
		const at = Math.floor(fraction(salt, index, 3) * channels.length);
		const { id, members } = channels[at] as (typeof channels)[number];
		return { at, id, user: members[Math.floor(fraction(salt, index, 4) * members.length)] ?? '' };
	};
	const run = Date.now();
	const calls: Record<Kind, (index: number) => Promise<unknown>> = {
		posts: async (index) => {
			const { at, id, user } = pick(1, index);
			const args = { channel: id, text: `post ${index}`, client_msg_id: `${run}-${index}` };
			const { ts } = await api<{ ts: string }>(server.url, user, 'chat.postMessage', args);
			if (ts > (latest[at] ?? '')) latest[at] = ts;
		},
		marks: (index) => {
			const { at, id, user } = pick(2, index);
			return api(server.url, user, 'conversations.mark', { channel: id, ts: latest[at] ?? '' });
		},
		counts: (index) => {
			const user = Math.floor(fraction(5, index) * workspace.sizes.users);
			return api(server.url, userId(user), 'client.counts');
		},
	};
	const connecting = connect(bench, server, sockets);
	const [posts, marks, counts] = await Promise.all(
		KINDS.map((kind) => paced(RATES[kind], seconds, calls[kind])),
	);
	const listeners = await connecting;
	await Promise.all(listeners.map((some) => some.stop()));
	return { posts: posts ?? [], marks: marks ?? [], counts: counts ?? [] };
}

async function connect(bench: Bench, { url, port }: BenchServer, sockets: number): Promise<Listeners[]> {
	const listeners: Listeners[] = [];
	for (let first = 0; first < sockets; first += SOCKETS_A_PROCESS) {
		const users = usersFrom(first, Math.min(SOCKETS_A_PROCESS, sockets - first));
		const paths: string[] = [];
		await inParts(users.length, TICKETS_AT_ONCE, async (from, to) => {
			const tickets = users.slice(from, to).map((user) => ticketFor(url, tokenOf(user)));
			for (const ticket of await Promise.all(tickets)) paths.push(`/rtm/${ticket}`);
		});
		listeners.push(await Listeners.connect(bench, port, paths));
	}
	return listeners;
}

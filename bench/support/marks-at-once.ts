import { type Dataset, tokenOf, usersFrom } from './dataset.ts';

/** Many members of one conversation mark at the same time; each mark is one message further. */

const FIRST_USER = 900_000;
export const MARKERS = 64;
const MESSAGES = 180;

export interface Marked {
	readonly channel: string;
	readonly users: readonly string[];
}

export async function fillMarked(dataset: Dataset): Promise<Marked> {
	const [author = '', ...users] = usersFrom(FIRST_USER, MARKERS + 1);
	await dataset.users([author, ...users]);
	const { conversation, done } = dataset.channel([author, ...users]);
	await done;
	await dataset.messages(conversation, author, MESSAGES);
	return { channel: conversation.id, users };
}

/** Every user marks the messages of this run's share, one after the other. Returns marks per second. */
export async function marksAtOnce(
	url: string,
	{ channel, users }: Marked,
	run: number,
	runs: number,
): Promise<number> {
	const call = async (user: string, method: string, args: Record<string, string>): Promise<unknown> => {
		const response = await fetch(`${url}/api/${method}`, {
			method: 'POST',
			headers: { authorization: `Bearer ${tokenOf(user)}` },
			body: new URLSearchParams({ channel, ...args }),
		});
		const answer = (await response.json()) as { ok: boolean; error?: string };
		if (!answer.ok) throw new Error(`${method} answered ${answer.error}`);
		return answer;
	};
	const history = await call(users[0] ?? '', 'conversations.history', { limit: String(MESSAGES) });
	const all = (history as { messages: { ts: string }[] }).messages.map(({ ts }) => ts).reverse();
	const each = Math.floor(all.length / runs);
	const mine = all.slice(run * each, (run + 1) * each);
	const began = performance.now();
	await Promise.all(
		users.map(async (user) => {
			for (const ts of mine) await call(user, 'conversations.mark', { ts });
		}),
	);
	return (users.length * mine.length) / ((performance.now() - began) / 1000);
}

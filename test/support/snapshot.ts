import { expect } from 'bun:test';
import type { Answer } from './api.ts';
import type { Person } from './people.ts';

/** Everything that people can see of channels: to show that something refused changed nothing. */
export async function snapshotOf(people: readonly Person[], channels: readonly string[]) {
	const counts: unknown[] = [];
	for (const person of people) {
		// The position of the whole stream is left out: it rises with whatever is asked, refused or not.
		const { position: _position, ...seen } = await person.call('client.counts');
		counts.push(seen);
	}
	const contents: unknown[] = [];
	const [witness] = people as [Person];
	for (const channel of channels) {
		const { messages } = await witness.call('conversations.history', { channel });
		const { members } = await witness.call('conversations.members', { channel });
		const { channel: info } = await witness.call('conversations.info', { channel });
		contents.push({ messages, members, info });
	}
	return { counts, contents };
}

/** Refused with this code, this argument named, and nothing changed of what `seen` shows. */
export const refusalChecker =
	(seen: () => Promise<unknown>) =>
	async (call: () => Promise<Answer>, code: string, argument?: string): Promise<void> => {
		const before = await seen();
		const answer = await call();
		expect({ ok: answer.ok, error: answer.error }).toEqual({ ok: false, error: code });
		if (argument !== undefined)
			expect(answer.response_metadata?.messages?.join('\n')).toMatch(new RegExp(`^\\[ERROR\\] ${argument}:`));
		expect(await seen()).toEqual(before);
	};

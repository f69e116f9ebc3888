import { expect } from 'bun:test';
import type { Answer } from './api.ts';
import type { Person } from './people.ts';

/** Everything that users can see of channels: shows that a rejected call changed nothing. */
export async function snapshotOf(people: readonly Person[], channels: readonly string[]) {
	const counts: unknown[] = [];
	for (const person of people) {
		// The position is left out: it rises with every call, rejected or not.
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

/** Checks that a call is rejected with this code, that the answer names this argument, and that nothing in `seen` changed. */
export const rejectionChecker =
	(seen: () => Promise<unknown>) =>
	async (call: () => Promise<Answer>, code: string, argument?: string): Promise<void> => {
		const before = await seen();
		const answer = await call();
		expect({ ok: answer.ok, error: answer.error }).toEqual({ ok: false, error: code });
		if (argument !== undefined)
			expect(answer.response_metadata?.messages?.join('\n')).toMatch(new RegExp(`^\\[ERROR\\] ${argument}:`));
		expect(await seen()).toEqual(before);
	};

import { expect, test } from 'bun:test';
import type { ReactedMessage } from '../../src/engine/ports/store.ts';
import type { Call, Method } from '../../src/gateway/http/method.ts';
import { reactionsList } from '../../src/gateway/http/methods/reactions.ts';
import type { Conversation } from '../../src/model/conversation.ts';
import { TEAM, userNamed } from './support.ts';

test('reactions.list looks up a conversation once per page, even one that the caller may not read', async () => {
	const found = Array.from(
		{ length: 50 },
		(_, index): ReactedMessage => ({
			conversation: index % 2 ? 'C01' : 'C02',
			ts: index + 1,
			at: 100 - index,
		}),
	);
	const lookedUp: string[] = [];
	const services = {
		directory: {
			users: async () => [userNamed('U1')],
			conversations: async ([id = '']) => {
				lookedUp.push(id);
				return [{ id, team: TEAM, kind: 'private' } as unknown as Conversation];
			},
		},
		readState: { member: async () => null },
		history: { reactedTo: async () => found },
	};
	const caller = { kind: 'user', user: userNamed('U1'), team: TEAM } as Parameters<Method['call']>[1];
	const answer = await reactionsList.call(new Map(), caller, { services } as unknown as Call);
	expect(answer).toMatchObject({ items: [] });
	expect(lookedUp.toSorted()).toEqual(['C01', 'C02']);
});

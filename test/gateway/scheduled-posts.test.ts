import { afterEach, expect, test } from 'bun:test';
import type { ScheduledMessage } from '../../src/engine/ports/scheduled.ts';
import { ScheduledPosts, type ScheduledPostsParts } from '../../src/gateway/scheduled-posts.ts';
import { Rejection } from '../../src/model/errors.ts';
import { eventually } from '../support/eventually.ts';
import { userNamed } from './support.ts';

/** Due messages are posted in the order of their conversation, and a conversation that is stuck holds back no other. */

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

const scheduledIn = (conversation: string, id: string): ScheduledMessage => ({
	id,
	team: 'T1',
	user: 'U1',
	conversation,
	postAt: 1,
	createdTs: 1,
	content: { text: id, extra: null, threadTs: null, broadcast: false },
});

/** `fails`: the error of posting to a conversation. */
function scene(messages: ScheduledMessage[], fails: (conversation: string) => Error | null) {
	let due = messages;
	const posted: string[] = [];
	const failures: unknown[] = [];
	const submit = async (_actor: unknown, conversation: string, { clientMsgId }: { clientMsgId: string }) => {
		const error = fails(conversation);
		if (error) throw error;
		posted.push(clientMsgId);
	};
	const posts = new ScheduledPosts({
		scheduled: {
			due: async (_now, limit) => due.slice(0, limit),
			remove: async (id) => {
				due = due.filter((message) => message.id !== id);
			},
		},
		requests: { submit } as unknown as ScheduledPostsParts['requests'],
		directory: { users: async () => [userNamed('U1')] },
		nowMs: Date.now,
		failed: (error) => failures.push(error),
	});
	closing.push(() => posts.stop());
	return { posted, failures };
}

test.each([
	['outcome_unknown', new Rejection('outcome_unknown')],
	['service_unavailable', new Rejection('service_unavailable')],
	['another error', new Error('broken')],
])(
	'a conversation that fails with %s does not hold back others, however many messages it has',
	async (_, error) => {
		const stuck = Array.from({ length: 25 }, (_, index) => scheduledIn('C1', `stuck ${index}`));
		const { posted, failures } = scene([...stuck, scheduledIn('C2', 'other')], (conversation) =>
			conversation === 'C1' ? error : null,
		);
		await eventually(async () => expect(posted).toEqual(['other']));
		if (error instanceof Rejection) expect(failures).toEqual([]);
		else expect(failures).toContain(error);
	},
	30_000,
);

test('a message that cannot be posted yet is not overtaken in its conversation', async () => {
	let failures = 1;
	const { posted } = scene([scheduledIn('C1', 'first'), scheduledIn('C1', 'second')], () => {
		failures -= 1;
		return failures < 0 ? null : new Rejection('ratelimited');
	});
	await eventually(async () => expect(posted).toEqual(['first', 'second']));
}, 30_000);

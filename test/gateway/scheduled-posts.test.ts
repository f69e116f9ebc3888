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

const NOW_SECONDS = Math.floor(Date.now() / 1000);
const TWO_HOURS_SECONDS = 7_200;

const scheduledIn = (conversation: string, id: string, postAt = NOW_SECONDS): ScheduledMessage => ({
	id,
	team: 'T1',
	user: 'U1',
	conversation,
	postAt,
	createdTs: 1,
	content: { text: id, extra: null, threadTs: null, broadcast: false },
});

/** `fails`: the error of posting to a conversation; `remove` plays another gateway. */
function scene(
	messages: ScheduledMessage[],
	fails: (conversation: string, remove: (id: string) => void) => Error | null,
) {
	let due = messages;
	const remove = (id: string): void => {
		due = due.filter((message) => message.id !== id);
	};
	const posted: string[] = [];
	const failures: unknown[] = [];
	const submit = async (_actor: unknown, conversation: string, { clientMsgId }: { clientMsgId: string }) => {
		const error = fails(conversation, remove);
		if (error) throw error;
		posted.push(clientMsgId);
	};
	const posts = new ScheduledPosts({
		scheduled: {
			due: async (_now, limit) => due.slice(0, limit),
			get: async (id) => due.find((message) => message.id === id) ?? null,
			remove: async (id) => remove(id),
		},
		requests: { submit } as unknown as ScheduledPostsParts['requests'],
		directory: { users: async () => [userNamed('U1')] },
		partners: { check: async () => undefined },
		nowMs: Date.now,
		failed: (error) => failures.push(error),
	});
	closing.push(() => posts.stop());
	return { posted, failures };
}

test.each([
	['outcome_unknown', new Rejection('outcome_unknown')],
	['service_unavailable', new Rejection('service_unavailable')],
	['internal_error', new Rejection('internal_error')],
	['another error', new Error('broken')],
])(
	'a conversation that fails with %s does not hold back others, however many messages it has',
	async (_, error) => {
		const stuck = Array.from({ length: 25 }, (_, index) => scheduledIn('C1', `stuck ${index}`));
		const { posted, failures } = scene([...stuck, scheduledIn('C2', 'other')], (conversation) =>
			conversation === 'C1' ? error : null,
		);
		await eventually(async () => expect(posted).toEqual(['other']));
		if (error instanceof Rejection && error.code !== 'internal_error') expect(failures).toEqual([]);
		else expect(failures).toContain(error);
	},
	30_000,
);

test.each(['ratelimited', 'internal_error'] as const)(
	'a message that fails with %s is not overtaken in its conversation',
	async (code) => {
		let failures = 1;
		const { posted } = scene([scheduledIn('C1', 'first'), scheduledIn('C1', 'second')], () => {
			failures -= 1;
			return failures < 0 ? null : new Rejection(code);
		});
		await eventually(async () => expect(posted).toEqual(['first', 'second']));
	},
	30_000,
);

test('a message that a worker still fails to post after an hour is dropped and logged', async () => {
	const old = scheduledIn('C1', 'old', NOW_SECONDS - TWO_HOURS_SECONDS);
	let attempts = 0;
	const { posted, failures } = scene([old, scheduledIn('C1', 'new')], () => {
		attempts += 1;
		return attempts === 1 ? new Rejection('internal_error') : null;
	});
	await eventually(async () => expect(posted).toEqual(['new']));
	expect(failures.map(String)).toEqual([expect.stringContaining('Scheduled message old in C1 was dropped')]);
}, 30_000);

test('a message that another gateway has dropped is not posted', async () => {
	const dropped = scheduledIn('C1', 'dropped');
	const { posted } = scene([scheduledIn('C1', 'first'), dropped, scheduledIn('C1', 'last')], (_, remove) => {
		remove(dropped.id);
		return null;
	});
	await eventually(async () => expect(posted).toContain('last'));
	expect(posted).toEqual(['first', 'last']);
}, 30_000);

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

/** Scheduled messages in memory, as several gateways see them. */
class FakeScheduled {
	private readonly holders = new Map<string, string>();

	constructor(private messages: readonly ScheduledMessage[]) {}

	due = async (_now: number, limit: number) => this.messages.slice(0, limit);

	lease = async (id: string, gateway: string): Promise<'leased' | 'held' | 'gone'> => {
		if (!this.messages.some((message) => message.id === id)) return 'gone';
		if ((this.holders.get(id) ?? gateway) !== gateway) return 'held';
		this.holders.set(id, gateway);
		return 'leased';
	};

	release = async (id: string, gateway: string): Promise<void> => {
		if (this.holders.get(id) === gateway) this.holders.delete(id);
	};

	remove = async (id: string): Promise<void> => {
		this.messages = this.messages.filter((message) => message.id !== id);
	};
}

type Submit = (conversation: string, id: string) => Promise<void>;

/** Starts a gateway that posts the messages; collects the errors that it reports. */
function startGateway(gateway: string, scheduled: ScheduledPostsParts['scheduled'], submit: Submit) {
	const failures: unknown[] = [];
	const posts = new ScheduledPosts({
		scheduled,
		requests: {
			submit: (_actor: unknown, conversation: string, { clientMsgId }: { clientMsgId: string }) =>
				submit(conversation, clientMsgId),
		} as unknown as ScheduledPostsParts['requests'],
		directory: { users: async () => [userNamed('U1')] },
		partners: { check: async () => undefined },
		gateway,
		nowMs: Date.now,
		failed: (error) => failures.push(error),
	});
	closing.push(() => posts.stop());
	return failures;
}

/** `fails`: the error of posting to a conversation; `remove` plays another gateway. */
function scene(
	messages: ScheduledMessage[],
	fails: (conversation: string, remove: (id: string) => void) => Error | null,
) {
	const scheduled = new FakeScheduled(messages);
	const posted: string[] = [];
	const failures = startGateway('N1', scheduled, async (conversation, id) => {
		const error = fails(conversation, scheduled.remove);
		if (error) throw error;
		posted.push(id);
	});
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

test('while a gateway posts a message, another posts neither it nor later ones of its conversation', async () => {
	const scheduled = new FakeScheduled([scheduledIn('C1', 'first'), scheduledIn('C1', 'second')]);
	const [submitted, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	const posted: string[] = [];
	let rounds = 0;
	startGateway('N1', scheduled, async (_, id) => {
		submitted.resolve();
		await decided.promise;
		if (id === 'first') throw new Rejection('is_archived');
		posted.push(id);
	});
	await submitted.promise;
	// The other gateway reads the message before it is dropped, and would post it: the channel is no longer archived.
	const due: typeof scheduled.due = async (now, limit) => {
		rounds += 1;
		return scheduled.due(now, limit);
	};
	startGateway('N2', { ...scheduled, due }, async (_, id) => void posted.push(id));
	await eventually(async () => expect(rounds).toBe(2));
	expect(posted).toEqual([]);
	decided.resolve();
	await eventually(async () => expect(posted).toEqual(['second']));
}, 30_000);

test('after a failure, another gateway may post the message at once', async () => {
	const scheduled = new FakeScheduled([scheduledIn('C1', 'first')]);
	const posted: string[] = [];
	let attempts = 0;
	startGateway('N1', scheduled, async () => {
		attempts += 1;
		throw new Rejection('service_unavailable');
	});
	await eventually(async () => expect(attempts).toBe(1));
	startGateway('N2', scheduled, async (_, id) => void posted.push(id));
	await eventually(async () => expect(posted).toEqual(['first']));
}, 30_000);

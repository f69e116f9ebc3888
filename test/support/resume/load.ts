import { type Call, rawClient } from '../api.ts';
import type { Random } from '../oracle/random.ts';
import type { Person, Workspace } from '../people.ts';

/** Users perform all kinds of operations that cause events, several at once. Rejected operations are ignored. */

interface Post {
	readonly channel: string;
	readonly ts: string;
	readonly author: string;
	readonly root: string;
}

export interface Stage {
	readonly people: readonly Person[];
	readonly channels: readonly string[];
	/** Posted messages that other users can refer to. */
	readonly posted: Post[];
}

const CHANNELS = [
	{ name: 'quay', is_private: false },
	{ name: 'mole', is_private: false },
	{ name: 'hold', is_private: true },
];

export async function makeStage({ people }: Workspace): Promise<Stage> {
	const [first, ...others] = people as [Person, ...Person[]];
	const users = others.map(({ id }) => id);
	const channels: string[] = [];
	for (const args of CHANNELS) {
		const { channel } = await first.call('conversations.create', args);
		await first.call('conversations.invite', { channel: channel.id, users });
		channels.push(channel.id);
	}
	for (const several of [users.slice(0, 1), users.slice(0, 3)])
		channels.push((await first.call('conversations.open', { users: several })).channel.id);
	return { people, channels, posted: [] };
}

/** One user, with random arguments for the next operation. */
class Actor {
	constructor(
		readonly person: Person,
		readonly call: Call,
		readonly stage: Stage,
		readonly random: Random,
	) {}

	one<T>(list: readonly T[]): T {
		return this.random.pick(list) as T;
	}

	get channel(): { channel: string } {
		return { channel: this.one(this.stage.channels) };
	}

	/** A recent message, by anybody or by this user. */
	message(mine = false): Post {
		const { posted } = this.stage;
		const wanted = mine ? posted.filter(({ author }) => author === this.person.id) : posted;
		const nothing = { channel: 'C000', ts: '0000000001.000000', author: '', root: '0000000001.000000' };
		return this.one([...wanted.slice(-20), nothing]);
	}

	ts(mine = false): { channel: string; ts: string } {
		const { channel, ts } = this.message(mine);
		return { channel, ts };
	}

	thread(): { channel: string; thread_ts: string } {
		const { channel, root } = this.message();
		return { channel, thread_ts: root };
	}

	user(): string {
		return this.one(this.stage.people).id;
	}

	text(): string {
		const mention = this.one(['', '', '', ` <@${this.user()}>`, ' <!here>', ' <!channel>']);
		return `${this.random.below(1_000_000)}${mention}`;
	}

	async post(to: { channel: string; thread_ts?: string; reply_broadcast?: boolean }): Promise<void> {
		const { ok, ts } = await this.call('chat.postMessage', { ...to, text: this.text() });
		const { channel, thread_ts: root = ts } = to;
		if (ok) this.stage.posted.push({ channel, ts, author: this.person.id, root });
	}
}

const ACTS = {
	post: (actor: Actor) => actor.post(actor.channel),
	reply: (actor: Actor) => actor.post({ ...actor.thread(), reply_broadcast: actor.random.chance(0.4) }),
	edit: (actor: Actor) => actor.call('chat.update', { ...actor.ts(true), text: actor.text() }),
	remove: (actor: Actor) => actor.call('chat.delete', actor.ts(true)),
	mark: (actor: Actor) => actor.call('conversations.mark', actor.ts()),
	markUnread: (actor: Actor) => actor.call('conversations.markUnread', actor.ts()),
	markMessage: (actor: Actor) => actor.call('conversations.markMessage', actor.ts()),
	mute: (actor: Actor) => actor.call('conversations.mute', actor.channel),
	unmute: (actor: Actor) => actor.call('conversations.unmute', actor.channel),
	level: (actor: Actor) =>
		actor.call('conversations.setNotifications', { ...actor.channel, level: actor.one(['all', 'none']) }),
	leave: (actor: Actor) => actor.call('conversations.leave', actor.channel),
	join: (actor: Actor) => actor.call('conversations.join', actor.channel),
	kick: (actor: Actor) => actor.call('conversations.kick', { ...actor.channel, user: actor.user() }),
	invite: (actor: Actor) => actor.call('conversations.invite', { ...actor.channel, users: actor.user() }),
	follow: (actor: Actor) => actor.call('subscriptions.thread.add', actor.thread()),
	unfollow: (actor: Actor) => actor.call('subscriptions.thread.remove', actor.thread()),
	markThread: (actor: Actor) => {
		const { channel, ts, root } = actor.message();
		return actor.call('subscriptions.thread.mark', { channel, ts, thread_ts: root });
	},
	topic: (actor: Actor) => actor.call('conversations.setTopic', { ...actor.channel, topic: actor.text() }),
	purpose: (actor: Actor) =>
		actor.call('conversations.setPurpose', { ...actor.channel, purpose: actor.text() }),
	rename: (actor: Actor) =>
		actor.call('conversations.rename', { ...actor.channel, name: `name-${actor.random.below(10_000)}` }),
	archive: (actor: Actor) => actor.call('conversations.archive', actor.channel),
	unarchive: (actor: Actor) => actor.call('conversations.unarchive', actor.channel),
};

const WEIGHTS: Readonly<Record<keyof typeof ACTS, number>> = {
	post: 30,
	reply: 16,
	edit: 10,
	remove: 10,
	mark: 10,
	markUnread: 3,
	markMessage: 3,
	mute: 2,
	unmute: 2,
	level: 2,
	leave: 3,
	join: 8,
	kick: 2,
	invite: 6,
	follow: 3,
	unfollow: 3,
	markThread: 4,
	topic: 2,
	purpose: 1,
	rename: 1,
	archive: 1,
	unarchive: 5,
};

/** Performs operations of several users at once, in an order that differs from run to run. */
export async function perform(
	url: string,
	stage: Stage,
	random: Random,
	operations: number,
	atOnce = 4,
): Promise<void> {
	let left = operations;
	const work = async (): Promise<void> => {
		while (left > 0) {
			left -= 1;
			const person = random.pick(stage.people) as Person;
			const actor = new Actor(person, rawClient(url, person.token), stage, random);
			// If the server is killed meanwhile, the change may have happened or not.
			await Promise.resolve(ACTS[random.weighted(WEIGHTS)](actor)).catch(() => undefined);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, work));
}

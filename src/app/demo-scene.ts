import type { ApiCall } from '../remote/api-client.ts';

/**
 * The content of the demo workspace: channels with topics, threads, mentions and direct messages, some read and
 * some unread. The screenshots in the docs show this workspace.
 */

export interface Actor {
	readonly id: string;
	readonly name: string;
	readonly call: ApiCall;
}

export const DEMO_TEAM = 'Harbour & Sons';

/** The screenshots show the interface of the first user; the others write to her. */
export const DEMO_PEOPLE = [
	['ada', 'Ada Lovelace'],
	['grace', 'Grace Hopper'],
	['linus', 'Linus Torvalds'],
	['katherine', 'Katherine Johnson'],
	['alan', 'Alan Turing'],
] as const;

const CHANNELS: Readonly<Record<string, string>> = {
	announcements: 'News for everybody',
	design: 'How it looks, and why',
	harbour: 'Boats, berths and the boat house',
	incidents: 'What is broken now',
	random: 'Cake, mostly',
	releases: 'What goes out, and when',
	support: 'Tickets that need more than one of us',
};

/** `general`: the id of the channel that all users have already joined. */
export async function playDemo(people: readonly Actor[], general: string): Promise<void> {
	const [ada, grace, linus, katherine, alan] = people;
	if (!ada || !grace || !linus || !katherine || !alan) throw new Error('the demo needs five people');
	const others = people.slice(1).map(({ id }) => id);

	const ids = new Map([['general', general]]);
	const create = async (
		owner: Actor,
		name: string,
		members: readonly string[],
		args: Readonly<Record<string, unknown>> = {},
	) => {
		const { channel } = await owner.call<{ channel: { id: string } }>('conversations.create', {
			name,
			...args,
		});
		await owner.call('conversations.invite', { channel: channel.id, users: members });
		ids.set(name, channel.id);
		return channel.id;
	};
	for (const [name, topic] of Object.entries(CHANNELS)) {
		const channel = await create(ada, name, others);
		await ada.call('conversations.setTopic', { channel, topic });
	}
	await create(ada, 'budget', [katherine.id], { is_private: true });
	// Ada is not a member of these two, so that there are channels to join.
	await create(alan, 'chess', [linus.id]);
	await create(katherine, 'reading-club', [grace.id, alan.id]);

	const say = async (who: Actor, where: string, text: string, args: Readonly<Record<string, unknown>> = {}) =>
		(await who.call<{ ts: string }>('chat.postMessage', { channel: ids.get(where) ?? where, text, ...args }))
			.ts;
	const direct = async (from: Actor, users: readonly Actor[]) =>
		(await from.call<{ channel: { id: string } }>('conversations.open', { users: users.map(({ id }) => id) }))
			.channel.id;

	// Read by everyone.
	await say(ada, 'general', 'Welcome to Tidemark. Every count that you see here is exact.');
	await say(grace, 'announcements', 'The office is closed on Friday.');
	await say(alan, 'design', 'The new icons are in the shared folder.');
	await say(ada, 'design', 'They look *very* good on dark. Thank you!');
	await say(linus, 'support', 'Two tickets from yesterday are still open.');
	await say(katherine, 'budget', 'The numbers for the quarter are in; we are below the plan.');
	const withGrace = await direct(grace, [ada]);
	await say(grace, withGrace, 'Lunch at one?');
	await say(ada, withGrace, 'One is fine. The usual place.');
	const trip = await direct(ada, [grace, alan]);
	await say(ada, trip, 'Who comes to the regatta on Saturday?');
	for (const who of people) await who.call('client.markAllRead', {});

	// Unread.
	await say(ada, 'releases', 'Good morning. The plan for *0.2* is up: <https://example.com/plan|the plan>.');
	const migration = await say(
		grace,
		'releases',
		'The migration took 41 seconds on a copy of production. I would call that done.',
	);
	const inThread = { thread_ts: migration };
	await say(ada, 'releases', 'Wonderful. With or without the index?', inThread);
	await say(grace, 'releases', 'With. It is the index that takes 30 of them.', inThread);
	await say(katherine, 'releases', 'I checked the numbers twice; they hold.', inThread);
	await say(ada, 'releases', 'Then we go on Thursday. I write the notes.');
	await say(linus, 'releases', 'The tests are green on both machines:\n```\n412 passed, 0 failed\n```');
	await say(katherine, 'releases', `<@${ada.id}> can you look at the wording of the notes before noon?`);
	await say(alan, 'releases', 'I take the rollback drill, if nobody minds. `npm run drill` is ready.');
	await say(grace, 'releases', `<@${linus.id}> thank you for the quick fix!`);
	await ada.call('conversations.mute', { channel: ids.get('support') });
	await say(linus, 'support', 'One of them is done.');
	await say(linus, 'incidents', '<!channel> disk of the backup host at 91 %');
	await say(alan, 'random', 'There is cake in the kitchen.');
	await say(katherine, 'random', 'There was cake in the kitchen.');
	const key = await say(alan, 'harbour', 'Who has the key to the boat house?');
	await say(linus, 'harbour', `I gave it to <@${ada.id}> on Monday.`, { thread_ts: key });
	await say(linus, await direct(linus, [ada]), 'Got a minute?');
	await say(katherine, await direct(katherine, [ada]), 'The orbit looks fine now. Shall I send it?');
}

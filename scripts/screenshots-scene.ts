import { type Call, client } from '../test/support/api.ts';
import { ADMIN_TOKEN } from '../test/support/server.ts';

/** A workspace with something to see in it. */

interface Somebody {
	readonly id: string;
	readonly token: string;
	readonly call: Call;
}

export interface PictureScene {
	readonly ada: Somebody;
	readonly grace: Somebody;
	readonly channel: string;
	readonly thread: string;
	/** Posts now and then, for charts. */
	makeTraffic(ms: number): Promise<void>;
}

const PEOPLE = [
	['ada', 'Ada Lovelace'],
	['grace', 'Grace Hopper'],
	['linus', 'Linus Torvalds'],
	['katherine', 'Katherine Johnson'],
	['alan', 'Alan Turing'],
] as const;

const CHANNELS = [
	'announcements',
	'design',
	'general',
	'harbour',
	'incidents',
	'random',
	'releases',
	'support',
];

export async function makeScene(url: string): Promise<PictureScene> {
	const admin = client(url, ADMIN_TOKEN);
	const { team } = await admin('admin.teams.create', { name: 'Harbour & Sons' });
	const people: Somebody[] = [];
	for (const [name, realName] of PEOPLE) {
		const { user } = await admin('admin.users.create', { team_id: team.id, name, real_name: realName });
		const { token } = await admin('admin.tokens.create', { user_id: user.id });
		people.push({ id: user.id, token, call: client(url, token) });
	}
	const [ada, grace, linus, katherine, alan] = people;
	if (!ada || !grace || !linus || !katherine || !alan) throw new Error('the pictures need five people');

	const ids = new Map<string, string>();
	for (const name of CHANNELS) {
		const { channel } = await ada.call('conversations.create', { name });
		await ada.call('conversations.invite', {
			channel: channel.id,
			users: people.slice(1).map(({ id }) => id),
		});
		ids.set(name, channel.id);
	}
	const idOf = (name: string): string => ids.get(name) ?? '';
	const say = async (who: Somebody, name: string, text: string, args = {}): Promise<string> =>
		(await who.call('chat.postMessage', { channel: ids.get(name) ?? name, text, ...args })).ts;
	const direct = async (from: Somebody, text: string): Promise<void> => {
		const { channel } = await from.call('conversations.open', { users: ada.id });
		await say(from, channel.id, text);
	};

	await ada.call('conversations.setTopic', { channel: idOf('releases'), topic: 'What goes out, and when' });
	await say(grace, 'announcements', 'The office is closed on Friday.');
	await say(alan, 'design', 'The new icons are in the shared folder.');
	await say(linus, 'support', 'Two tickets from yesterday are still open.');
	await ada.call('client.markAllRead');

	await say(ada, 'releases', 'Good morning. The plan for *0.2* is up: <https://example.com/plan|the plan>.');
	const thread = await say(
		grace,
		'releases',
		'The migration took 41 seconds on a copy of production. I would call that done.',
	);
	await say(ada, 'releases', 'Wonderful. With or without the index?', { thread_ts: thread });
	await say(grace, 'releases', 'With. It is the index that takes 30 of them.', { thread_ts: thread });
	await say(katherine, 'releases', 'I checked the numbers twice; they hold.', { thread_ts: thread });
	await say(ada, 'releases', 'Then we go on Thursday. I write the notes.');
	await say(linus, 'releases', 'The tests are green on both machines:\n```\n412 passed, 0 failed\n```');
	await say(katherine, 'releases', `<@${ada.id}> can you look at the wording of the notes before noon?`);
	await say(alan, 'releases', 'I take the rollback drill, if nobody minds. `npm run drill` is ready.');
	await say(grace, 'releases', `<@${linus.id}> thank you for the quick fix!`);

	await say(linus, 'incidents', '<!channel> disk of the backup host at 91 %');
	await say(alan, 'random', 'There is cake in the kitchen.');
	await say(katherine, 'random', 'There was cake in the kitchen.');
	await say(alan, 'general', 'Who has the key to the boat house?');
	await direct(linus, 'Got a minute?');
	await direct(katherine, 'The orbit looks fine now. Shall I send it?');
	await ada.call('conversations.mute', { channel: idOf('support') });

	const makeTraffic = async (ms: number): Promise<void> => {
		for (const end = Date.now() + ms; Date.now() < end; ) {
			const size = 3 + Math.round(8 * Math.abs(Math.sin(Date.now() / 3_000)));
			await Promise.all(Array.from({ length: size }, (_, index) => say(alan, 'general', `line ${index}`)));
			await Bun.sleep(100);
		}
	};
	return { ada, grace, channel: idOf('releases'), thread, makeTraffic };
}

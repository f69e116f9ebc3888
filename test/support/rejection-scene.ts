import { makeWorkspace, type Person } from './people.ts';

/**
 * For tests of rejected calls: a public channel, a private channel and a direct message of Ada and Grace. Linus is in
 * none of them.
 */
export interface RejectionScene {
	readonly ada: Person;
	readonly grace: Person;
	readonly linus: Person;
	readonly channel: string;
	readonly secret: string;
	readonly dm: string;
	/** A message in the channel. */
	readonly message: string;
}

export async function makeRejectionScene(url: string): Promise<RejectionScene> {
	const [ada, grace, linus] = (await makeWorkspace(url, 3)).people as [Person, Person, Person];
	const create = async (name: string, is_private: boolean): Promise<string> =>
		(await ada.call('conversations.create', { name, is_private })).channel.id;
	const channel = await create('general', false);
	const secret = await create('secret', true);
	for (const id of [channel, secret])
		await ada.call('conversations.invite', { channel: id, users: grace.id });
	const dm = (await ada.call('conversations.open', { users: grace.id })).channel.id;
	const message = (await ada.call('chat.postMessage', { channel, text: 'hello' })).ts;
	for (const id of [secret, dm]) await ada.call('chat.postMessage', { channel: id, text: 'between us' });
	return { ada, grace, linus, channel, secret, dm, message };
}

import { makeWorkspace, type Person } from '../people.ts';

/** Two users and a channel that they share: one reads it through the SDK, the other writes to it. */

export interface SharedChannel {
	readonly reader: Person;
	readonly writer: Person;
	readonly channel: string;
	/** Posts as the writer; returns the ts. */
	readonly post: (text: string) => Promise<string>;
}

export async function makeSharedChannel(url: string): Promise<SharedChannel> {
	const { people } = await makeWorkspace(url, 2);
	const [reader, writer] = people as [Person, Person];
	const made = await writer.call('conversations.create', { name: 'quay' });
	const channel: string = made.channel.id;
	await writer.call('conversations.invite', { channel, users: reader.id });
	const post = async (text: string): Promise<string> =>
		(await writer.call('chat.postMessage', { channel, text })).ts;
	return { reader, writer, channel, post };
}

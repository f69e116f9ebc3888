import { type Book, type Cast, keyOf } from './kill-load.ts';
import { makeWorkspace } from './people.ts';

/** The people and channels of a load, and in the book what they have read to begin with. */
export async function makeCast(url: string, book: Book): Promise<Cast> {
	const { people } = await makeWorkspace(url, 9);
	const creator = people[0]!;
	const create = async (name: string): Promise<string> =>
		(await creator.call('conversations.create', { name })).channel.id;
	const cast: Cast = {
		writers: people.slice(0, 4),
		readers: people.slice(4, 6),
		pickers: people.slice(6, 7),
		movers: people.slice(7),
		channels: [await create('one'), await create('two'), await create('three')],
		halls: [await create('hall'), await create('stairs')],
	};
	const users = [...cast.writers.slice(1), ...cast.readers, ...cast.pickers].map(({ id }) => id);
	for (const channel of cast.channels) await creator.call('conversations.invite', { channel, users });
	for (const reader of cast.readers)
		for (const { id, last_read, revision, position } of (await reader.call('client.counts')).channels)
			book.reads.set(keyOf(reader.id, id), {
				last_read,
				revision,
				position,
				is_muted: false,
				isUnconfirmed: false,
			});
	return cast;
}

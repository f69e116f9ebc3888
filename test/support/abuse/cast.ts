import { makeWorkspace, type Person } from '../people.ts';
import { snapshotOf } from '../snapshot.ts';

/**
 * Attackers and victims: a workspace whose users must not be affected, and users of another workspace who know every id
 * of the first. Everything in the first workspace contains the canary, a text that no attacker may ever receive.
 */

export const CANARY = 'canary-4711';

export interface Cast {
	readonly ada: Person;
	readonly grace: Person;
	/** Users of the other workspace. */
	readonly strangers: readonly Person[];
	/** For the administrator's calls: a third workspace, in which anything may happen. */
	readonly playground: { readonly team: string; readonly people: readonly Person[] };
	readonly admin: Person['call'];
	/** Ids of Ada's workspace. */
	readonly foreign: Ids;
	/** Ids of the attackers' workspace. */
	readonly own: Ids;
	/** Everything that Ada and Grace can see. */
	readonly seen: () => Promise<unknown>;
}

export interface Ids {
	readonly channels: readonly string[];
	readonly users: readonly string[];
	readonly messages: readonly string[];
	readonly teams: readonly string[];
}

export async function makeCast(url: string, strangers = 4): Promise<Cast> {
	const first = await makeWorkspace(url, 2, `Tests ${CANARY}`);
	const second = await makeWorkspace(url, strangers, 'Strangers');
	const third = await makeWorkspace(url, 2, 'Playground');
	const [ada, grace] = first.people as [Person, Person];
	const foreign = { ...(await contentOf(ada, grace, CANARY)), teams: [first.team] };
	const [one, other] = second.people as [Person, Person];
	const own = { ...(await contentOf(one, other, 'mine')), teams: [second.team] };
	return {
		ada,
		grace,
		strangers: second.people,
		playground: { team: third.team, people: third.people },
		admin: first.admin,
		foreign,
		own: { ...own, users: second.people.map(({ id }) => id) },
		seen: () => snapshotOf([ada, grace], foreign.channels),
	};
}

/** A public channel, a private channel and a direct message, each with a message and a reply. */
async function contentOf(owner: Person, other: Person, text: string): Promise<Omit<Ids, 'teams'>> {
	const channels: string[] = [];
	for (const is_private of [false, true]) {
		const name = `${text}-${is_private ? 'private' : 'public'}`;
		const { channel } = await owner.call('conversations.create', { name, is_private });
		await owner.call('conversations.invite', { channel: channel.id, users: other.id });
		channels.push(channel.id);
	}
	channels.push((await owner.call('conversations.open', { users: other.id })).channel.id);
	const messages: string[] = [];
	for (const channel of channels) {
		const { ts } = await owner.call('chat.postMessage', { channel, text });
		messages.push(ts, (await other.call('chat.postMessage', { channel, text, thread_ts: ts })).ts);
	}
	return { channels, users: [owner.id, other.id], messages };
}

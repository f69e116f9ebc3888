import { CallFailed } from '../api.ts';
import type { Random } from '../oracle/random.ts';
import type { Person, Workspace } from '../people.ts';

/** Somebody reacts to or pins some message, or takes it back: between the steps of a history, whose counts it must not touch. */

const NAMES = ['+1', 'eyes', 'tada'];

/** `viewer` finds the message; the answer says whether anything was changed. */
export async function reactSomewhere(
	{ people }: Workspace,
	viewer: Person,
	random: Random,
): Promise<boolean> {
	const { channels } = await viewer.call('users.conversations', {
		types: 'public_channel,private_channel,mpim,im',
		exclude_archived: true,
	});
	const channel = random.pick(channels as { id: string }[])?.id;
	if (channel === undefined) return false;
	const page = await viewer.call('conversations.history', { channel, limit: 6 });
	const message = random.pick(page.messages as { ts: string; reply_count?: number }[]);
	if (!message) return false;
	const thread = (message.reply_count ?? 0) > 0 && random.chance(0.4);
	const replies = thread
		? (await viewer.call('conversations.replies', { channel, ts: message.ts })).messages
		: [];
	const timestamp = random.pick([message, ...(replies as { ts: string }[])])?.ts;
	const person = random.pick(people) as Person;
	const family = random.chance(0.8) ? 'reactions' : 'pins';
	const method = `${family}.${random.chance(0.65) ? 'add' : 'remove'}`;
	try {
		await person.call(method, { channel, timestamp, name: random.pick(NAMES) });
		return true;
	} catch (error) {
		// Not a member, there already, not there, or deleted: nothing was changed.
		if (error instanceof CallFailed) return false;
		throw error;
	}
}

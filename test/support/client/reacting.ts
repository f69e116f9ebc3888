import { CallFailed } from '../api.ts';
import type { Random } from '../oracle/random.ts';
import type { Person, Workspace } from '../people.ts';

/** Users add and remove reactions and pins between the steps of a history, whose counts must not change. */

const NAMES = ['+1', 'eyes', 'tada'];

/** `viewer` finds the message. Returns whether anything changed. */
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
		// The user is not a member, or the reaction already exists, does not exist, or the message is deleted: nothing changed.
		if (error instanceof CallFailed) return false;
		throw error;
	}
}

import type { User } from '../../../engine/ports/store.ts';
import { type Conversation, NO_REMARK } from '../../../model/conversation.ts';
import { Refusal } from '../../../model/errors.ts';
import { directId, isDirect, SLACKBOT_ID } from '../../../model/ids.ts';
import { sha256 } from '../../auth/tokens.ts';
import { joined, noChannel, usersOf } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { fullConversationView, openedView } from '../conversation-view.ts';
import { type UserCall, userMethod } from '../method.ts';
import { slackbotDirect } from '../slackbot-direct.ts';
import { submit } from '../submit.ts';

/**
 * Direct messages, to one person or a few. Their id follows from who is in them and the workspace's secret: opening twice,
 * or at two gateways at once, is harmless, and nobody else can compute it.
 */

const MAX_OTHERS = 8;

interface Opened {
	readonly id: string;
	/** Null: it was there already, and was not looked at. */
	readonly created: Conversation | null;
}

export const conversationsOpen = userMethod({
	arguments: {
		channel: optional(type.channel),
		users: optional(type.users('users_list_not_supplied')),
		return_im: type.flag,
		prevent_creation: type.flag,
	},
	run: async (args, call) => {
		const opened = await open(call, args);
		const repeated = opened.created === null ? { no_op: true, already_open: true } : {};
		if (!args.return_im) return { ...repeated, channel: { id: opened.id } };
		if (opened.created) return { channel: await openedView(call, opened.created) };
		const conversation = await joined(call, opened.id);
		return { ...repeated, channel: await fullConversationView(call, conversation) };
	},
});

/** Direct messages have no open and closed here: they stay in every list. Clients that close them learn that nothing was done. */
export const conversationsClose = userMethod({
	arguments: { channel: type.channel },
	run: async (args, call) => {
		await resume(call, args.channel);
		return { no_op: true };
	},
});

interface Wanted {
	readonly channel: string | undefined;
	readonly users: readonly string[] | undefined;
	readonly prevent_creation: boolean;
}

async function open(call: UserCall, wanted: Wanted): Promise<Opened> {
	if (wanted.channel !== undefined) return resume(call, wanted.channel);
	const { users } = wanted;
	if (users === undefined) throw new Refusal('users_list_not_supplied', 'users: required, or channel');
	if (users.length === 1 && users[0] === SLACKBOT_ID)
		return { id: (await slackbotDirect(call)).id, created: null };
	if (users.length > MAX_OTHERS) throw new Refusal('too_many_users', `users: at most ${MAX_OTHERS}`);
	return openWith(
		call,
		await usersOf(call.services, call.caller.team, users, 'users'),
		wanted.prevent_creation,
	);
}

async function resume(call: UserCall, channel: string): Promise<Opened> {
	const conversation = await joined(call, channel);
	if (!isDirect(conversation.kind))
		throw new Refusal('method_not_supported_for_channel_type', 'channel: not a direct message');
	return { id: channel, created: null };
}

/** As Slack names group messages. Only how it is made is a promise: people may be renamed later. */
const groupName = (people: ReadonlyMap<string, User>): string =>
	`mpdm-${[...people.values()]
		.map(({ name }) => name)
		.sort()
		.join('--')}-1`;

/** The direct message of the caller with these users, who are of the same workspace. */
export async function openWith(
	call: UserCall,
	others: readonly User[],
	preventCreation = false,
): Promise<Opened> {
	const { caller, services } = call;
	const users = new Map([caller.user, ...others].map((user) => [user.id, user]));
	const people = [...users.keys()].sort();
	const kind = people.length > 2 ? 'mpim' : 'im';
	const digest = await services.teamSecrets.digestFor(caller.team, 'direct');
	const id = directId(kind, caller.team, people, digest);
	// Earlier versions made the id from the people alone. Such a conversation keeps it.
	for (const known of [id, directId(kind, caller.team, people, sha256)])
		if ((await services.readState.member(caller.user.id, known)) !== null)
			return { id: known, created: null };
	if (preventCreation) throw noChannel();
	const result = await submit(call, id, {
		type: 'create',
		conversation: {
			id,
			team: caller.team,
			kind,
			name: kind === 'mpim' ? groupName(users) : '',
			creator: caller.user.id,
			archived: false,
			topic: NO_REMARK,
			purpose: NO_REMARK,
			previousNames: [],
			people,
		},
		members: people,
	});
	return { id, created: result.unchanged ? null : (result.conversation ?? null) };
}

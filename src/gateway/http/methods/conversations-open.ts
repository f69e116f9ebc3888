import type { User } from '../../../engine/ports/store.ts';
import { type Conversation, NO_CHANNEL_TEXT } from '../../../model/conversation.ts';
import { Rejection } from '../../../model/errors.ts';
import { directId, isDirect, SLACKBOT_ID } from '../../../model/ids.ts';
import { sha256 } from '../../auth/tokens.ts';
import { joinedConversation, noChannel, usersOf } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { fullConversationObject, openedConversationObject } from '../conversation-objects.ts';
import { type UserCall, userMethod } from '../method.ts';
import { slackbotDirect } from '../slackbot-direct.ts';
import { submit } from '../submit.ts';

/**
 * Opens direct and group messages. The id is derived from the members and the workspace's secret: opening twice, or
 * at two gateways at the same time, is harmless, and outsiders cannot compute it.
 */

const MAX_OTHERS = 8;

interface Opened {
	readonly id: string;
	/** Null: the conversation existed already and was not loaded. */
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
		if (opened.created) return { channel: await openedConversationObject(call, opened.created) };
		const conversation = await joinedConversation(call, opened.id);
		return { ...repeated, channel: await fullConversationObject(call, conversation) };
	},
});

/** Direct messages cannot be closed here and stay in every list. A client that closes one gets the answer `no_op`. */
export const conversationsClose = userMethod({
	arguments: { channel: type.channel },
	run: async (args, call) => {
		await openExisting(call, args.channel);
		return { no_op: true };
	},
});

interface OpenArguments {
	readonly channel: string | undefined;
	readonly users: readonly string[] | undefined;
	readonly prevent_creation: boolean;
}

async function open(call: UserCall, wanted: OpenArguments): Promise<Opened> {
	if (wanted.channel !== undefined) return openExisting(call, wanted.channel);
	const { users } = wanted;
	if (users === undefined)
		throw new Rejection('users_list_not_supplied', 'users or channel: one of them is required');
	if (users.length === 1 && users[0] === SLACKBOT_ID)
		return { id: (await slackbotDirect(call)).id, created: null };
	if (users.length > MAX_OTHERS)
		throw new Rejection('too_many_users', `users: a group message has at most ${MAX_OTHERS} others`);
	return openWith(
		call,
		await usersOf(call.services, call.caller.team, users, 'users'),
		wanted.prevent_creation,
	);
}

async function openExisting(call: UserCall, channel: string): Promise<Opened> {
	const conversation = await joinedConversation(call, channel);
	if (!isDirect(conversation.kind))
		throw new Rejection(
			'method_not_supported_for_channel_type',
			'channel: must be a direct or group message',
		);
	return { id: channel, created: null };
}

/** Named like Slack's group messages. The name stays when a user is renamed later. */
const groupName = (people: ReadonlyMap<string, User>): string =>
	`mpdm-${[...people.values()]
		.map(({ name }) => name)
		.sort()
		.join('--')}-1`;

/** Opens the direct or group message of the caller with these users of the same workspace. */
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
	// Earlier versions derived the id from the members alone; such conversations keep it.
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
			topic: NO_CHANNEL_TEXT,
			purpose: NO_CHANNEL_TEXT,
			previousNames: [],
			people,
		},
		members: people,
	});
	return { id, created: result.unchanged ? null : (result.conversation ?? null) };
}

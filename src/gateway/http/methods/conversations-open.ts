import { type Conversation, NO_REMARK } from '../../../model/conversation.ts';
import { Refusal } from '../../../model/errors.ts';
import { directId, isDirect } from '../../../model/ids.ts';
import { sha256 } from '../../auth/tokens.ts';
import { joined, noChannel, usersOf } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { fullConversationView, openedView } from '../conversation-view.ts';
import { type UserCall, userMethod } from '../method.ts';
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

interface Wanted {
	readonly channel: string | undefined;
	readonly users: readonly string[] | undefined;
	readonly prevent_creation: boolean;
}

async function open(call: UserCall, wanted: Wanted): Promise<Opened> {
	if (wanted.channel !== undefined) return resume(call, wanted.channel);
	const { users } = wanted;
	if (users === undefined) throw new Refusal('users_list_not_supplied', 'users: required, or channel');
	if (users.length > MAX_OTHERS) throw new Refusal('too_many_users', `users: at most ${MAX_OTHERS}`);
	await usersOf(call.services, call.caller.team, users, 'users');
	return openWith(call, users, wanted.prevent_creation);
}

async function resume(call: UserCall, channel: string): Promise<Opened> {
	const conversation = await joined(call, channel);
	if (!isDirect(conversation.kind))
		throw new Refusal('method_not_supported_for_channel_type', 'channel: not a direct message');
	return { id: channel, created: null };
}

async function openWith(call: UserCall, users: readonly string[], preventCreation: boolean): Promise<Opened> {
	const { caller, services } = call;
	const people = [...new Set([caller.user.id, ...users])].sort();
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
			name: kind === 'mpim' ? `mpdm-${id.toLowerCase()}` : '',
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

import { checkChannelName } from '../../../model/channel-name.ts';
import { NO_CHANNEL_TEXT } from '../../../model/conversation.ts';
import { Rejection } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { joinedConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { channelAnswer } from '../conversation-objects.ts';
import { type UserCall, userMethod } from '../method.ts';
import { ifAvailable, submit } from '../submit.ts';

/**
 * Creates and renames channels. A name is reserved before the command is appended, so that no two channels share
 * it.
 */

/** Longer than a gateway tries to append a command: a reservation of this age without a channel is abandoned. */
const ABANDONED_AFTER_MICROS = 60_000_000;

const name = type.text({ missing: 'invalid_name_required', takesEmpty: false });

export const conversationsCreate = userMethod({
	arguments: { name, is_private: type.flag },
	ignored: ['validate', 'org_wide'],
	run: async (args, call) => {
		const { caller, services } = call;
		const id = newId('C', services.random);
		const result = await withName(call, args.name, id, () =>
			submit(call, id, {
				type: 'create',
				conversation: {
					id,
					team: caller.team,
					kind: args.is_private ? 'private' : 'public',
					name: args.name,
					creator: caller.user.id,
					archived: false,
					topic: NO_CHANNEL_TEXT,
					purpose: NO_CHANNEL_TEXT,
					previousNames: [],
					people: [],
				},
				members: [caller.user.id],
			}),
		);
		if (!result.conversation) throw new Error('creating returned no conversation');
		return channelAnswer(call, result.conversation);
	},
});

export const conversationsRename = userMethod({
	arguments: { channel: type.channel, name },
	ignored: ['validate'],
	run: async (args, call) => {
		const conversation = await joinedConversation(call, args.channel);
		const rename = () => submit(call, args.channel, { type: 'rename', name: args.name });
		// A name that the channel already has must not be reserved, and above all not released.
		const result =
			conversation.name === args.name
				? await rename()
				: await withName(call, args.name, args.channel, rename);
		return channelAnswer(call, result.conversation ?? conversation);
	},
});

/** Reserves the name for the work; releases it if the work certainly had no effect. */
async function withName<T>(
	call: UserCall,
	name: string,
	conversation: string,
	work: () => Promise<T>,
): Promise<T> {
	const invalid = checkChannelName(name);
	if (invalid) throw new Rejection(invalid);
	const { services, caller } = call;
	try {
		if (!(await reserved(call, name, conversation)))
			throw new Rejection('name_taken', 'name: another channel has this name');
		return await work();
	} catch (error) {
		if (mayReleaseName(error))
			// If the name cannot be released now, the next user who wants it finds it abandoned.
			await ifAvailable(() => services.directory.releaseName(caller.team, name, conversation), undefined);
		throw error;
	}
}

/**
 * Whether the change certainly failed and may have reserved its name. After `name_taken`, there is no reservation to release. After
 * `outcome_unknown` and `internal_error`, the change may still happen, and needs its name.
 */
const mayReleaseName = (error: unknown): boolean =>
	error instanceof Rejection && !['outcome_unknown', 'internal_error', 'name_taken'].includes(error.code);

async function reserved(call: UserCall, name: string, conversation: string): Promise<boolean> {
	const { services, caller } = call;
	const { directory, clock } = services;
	const reserve = () => directory.reserveName(caller.team, name, conversation, clock.next());
	if (await reserve()) return true;
	const longAgo = clock.next() - ABANDONED_AFTER_MICROS;
	const holder = await directory.abandonedName(caller.team, name, longAgo);
	if (holder === null || (await hasName(call, holder, name))) return false;
	await directory.releaseName(caller.team, name, holder, longAgo);
	return reserve();
}

/**
 * Whether the conversation has this name once all earlier commands in the log are decided. To wait for them, the function submits a
 * command that adds no users: that command changes nothing and is decided after the earlier ones.
 */
async function hasName({ services, caller }: UserCall, conversation: string, name: string): Promise<boolean> {
	try {
		const nobody = { type: 'add_members', users: [] } as const;
		await services.requests.submit({ user: '', team: caller.team }, conversation, nobody);
	} catch (error) {
		if (!(error instanceof Rejection)) throw error;
		if (error.code === 'channel_not_found') return false;
		if (error.code !== 'is_archived') throw error;
	}
	const [found] = await services.directory.conversations([conversation]);
	return found?.name === name;
}

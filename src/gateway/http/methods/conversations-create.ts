import { NO_REMARK } from '../../../model/conversation.ts';
import { Refusal } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { checkChannelName } from '../../../model/names.ts';
import { joined } from '../access.ts';
import * as type from '../argument-types.ts';
import { channelAnswer } from '../conversation-view.ts';
import { type UserCall, userMethod } from '../method.ts';
import { ifAvailable, submit } from '../submit.ts';

/** Channels and their names. A name is reserved before the log is asked, so that no two channels have it. */

/** Longer than anybody tries to append a command: one that was not sent by then never will be. */
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
					topic: NO_REMARK,
					purpose: NO_REMARK,
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
		const conversation = await joined(call, args.channel);
		const rename = () => submit(call, args.channel, { type: 'rename', name: args.name });
		// A name that it has already is not to be reserved, and above all not to be given back.
		const result =
			conversation.name === args.name
				? await rename()
				: await withName(call, args.name, args.channel, rename);
		return channelAnswer(call, result.conversation ?? conversation);
	},
});

/** Reserves the name for the work, and gives it back where it is certain that nothing came of that. */
async function withName<T>(
	call: UserCall,
	name: string,
	conversation: string,
	work: () => Promise<T>,
): Promise<T> {
	const invalid = checkChannelName(name);
	if (invalid) throw new Refusal(invalid, 'name: not a name for a channel');
	const { services, caller } = call;
	try {
		if (!(await reserved(call, name, conversation)))
			throw new Refusal('name_taken', 'name: another channel has it');
		return await work();
	} catch (error) {
		if (isCertain(error))
			// A name that cannot be released now is found abandoned by the next user who wants it.
			await ifAvailable(() => services.directory.releaseName(caller.team, name, conversation), undefined);
		throw error;
	}
}

/** After anything else the change may still take place, and needs its name. */
const isCertain = (error: unknown): boolean =>
	error instanceof Refusal && !['outcome_unknown', 'internal_error', 'name_taken'].includes(error.code);

async function reserved(call: UserCall, name: string, conversation: string): Promise<boolean> {
	const { services, caller } = call;
	const { directory, clock } = services;
	const reserve = () => directory.reserveName(caller.team, name, conversation, clock.next());
	if (await reserve()) return true;
	const longAgo = clock.next() - ABANDONED_AFTER_MICROS;
	const holder = await directory.abandonedName(caller.team, name, longAgo);
	if (holder === null || (await carries(call, holder, name))) return false;
	await directory.releaseName(caller.team, name, holder, longAgo);
	return reserve();
}

/**
 * Whether a conversation has the name, when everything that was asked of it so far is decided. Adding nobody changes nothing, and is decided
 * after what was asked before: what was sent a minute ago and is still on its way comes first.
 */
async function carries({ services, caller }: UserCall, conversation: string, name: string): Promise<boolean> {
	try {
		const nobody = { type: 'add_members', users: [] } as const;
		await services.requests.submit({ user: '', team: caller.team }, conversation, nobody);
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		if (error.code === 'channel_not_found') return false;
		if (error.code !== 'is_archived') throw error;
	}
	const [found] = await services.directory.conversations([conversation]);
	return found?.name === name;
}

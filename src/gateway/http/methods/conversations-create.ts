import { NO_REMARK } from '../../../model/conversation.ts';
import { ERRORS, Refusal } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { checkChannelName } from '../../../model/names.ts';
import { joined } from '../access.ts';
import * as type from '../argument-types.ts';
import { channelAnswer } from '../conversation-view.ts';
import { type UserCall, userMethod } from '../method.ts';
import { submit } from '../submit.ts';

/** Channels and their names. A name is reserved before the log is asked, so that no two channels have it. */

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
		if (!result.conversation) throw new Error('creating answered no conversation');
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

async function withName<T>(
	call: UserCall,
	name: string,
	conversation: string,
	work: () => Promise<T>,
): Promise<T> {
	const invalid = checkChannelName(name);
	if (invalid) throw new Refusal(invalid, 'name: not a name for a channel');
	const { directory, clock } = call.services;
	const { team } = call.caller;
	if (!(await directory.reserveName(team, name, conversation, clock.next())))
		throw new Refusal('name_taken', 'name: another channel has it');
	try {
		return await work();
	} catch (error) {
		// Only a decision is final. After anything else the change may still take place, and needs its name.
		if (error instanceof Refusal && !ERRORS[error.code].retry)
			await directory.releaseName(team, name, conversation);
		throw error;
	}
}

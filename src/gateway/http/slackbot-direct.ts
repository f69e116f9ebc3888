import { type Conversation, NO_CHANNEL_TEXT } from '../../model/conversation.ts';
import { directId, SLACKBOT_ID } from '../../model/ids.ts';
import type { Services } from '../services.ts';

/**
 * The direct message with Slackbot that every user of Slack has: wee-slack looks it up whenever the user switches
 * conversations. Like Slackbot it is not stored. It is listed and readable, stays empty, and rejects messages.
 */

interface SlackbotCall {
	readonly services: Pick<Services, 'teamSecrets'>;
	readonly caller: { readonly user: { readonly id: string }; readonly team: string };
}

async function idFor({ services, caller }: SlackbotCall): Promise<string> {
	const digest = await services.teamSecrets.digestFor(caller.team, 'direct');
	return directId('im', caller.team, [caller.user.id, SLACKBOT_ID], digest);
}

export async function slackbotDirect(call: SlackbotCall): Promise<Conversation> {
	return {
		id: await idFor(call),
		team: call.caller.team,
		kind: 'im',
		name: '',
		creator: SLACKBOT_ID,
		createdTs: 0,
		archived: false,
		topic: NO_CHANNEL_TEXT,
		purpose: NO_CHANNEL_TEXT,
		previousNames: [],
		memberCount: 2,
		people: [call.caller.user.id, SLACKBOT_ID],
		changedTs: 0,
	};
}

/** Null: the id belongs to another conversation, or to none. */
export const slackbotDirectAt = async (call: SlackbotCall, id: string): Promise<Conversation | null> =>
	id.startsWith('D') && id === (await idFor(call)) ? slackbotDirect(call) : null;

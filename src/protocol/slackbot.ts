import type { User } from '../engine/ports/store.ts';
import { SLACKBOT_ID } from '../model/ids.ts';

/**
 * Slackbot, a user that applications expect in every workspace. It is not stored, cannot sign in, and is in no stored conversation.
 * A message to it is rejected, because nobody would read it.
 */

export const SLACKBOT_NAME = 'slackbot';

export const slackbotOf = (team: string): User => ({
	id: SLACKBOT_ID,
	team,
	name: SLACKBOT_NAME,
	realName: 'Slackbot',
	email: '',
	// As at Slack, where users.info does not call it a bot.
	isBot: false,
	deleted: false,
	updatedTs: 0,
	signedOutTs: 0,
	// wee-slack looks for a conversation with this name.
	profile: { display_name: 'Slackbot' },
	snoozedUntilTs: 0,
});

import type { User } from '../../engine/ports/store.ts';
import { NO_CHANNEL_TEXT } from '../../model/conversation.ts';
import { Rejection } from '../../model/errors.ts';
import { generalChannelOf, SLACKBOT_ID } from '../../model/ids.ts';
import type { Services } from '../services.ts';

/**
 * The channel that all users of a workspace join when they are created, like Slack's #general. It exists only if the
 * workspace was created with it. Bots do not join: an app joins the channels that it needs.
 */

export async function createGeneral(services: Services, team: string, name: string): Promise<void> {
	const { directory, requests, clock } = services;
	const id = generalChannelOf(team);
	await directory.reserveName(team, name, id, clock.next());
	await requests.submit({ user: '', team }, id, {
		type: 'create',
		conversation: {
			id,
			team,
			kind: 'public',
			name,
			// No user exists yet. Applications look up the creator, and Slackbot exists in every workspace.
			creator: SLACKBOT_ID,
			archived: false,
			topic: NO_CHANNEL_TEXT,
			purpose: NO_CHANNEL_TEXT,
			previousNames: [],
			people: [],
		},
		members: [],
	});
}

/**
 * Adds the user to the channel; returns its id if that succeeded. A failure does not fail the call, because the user is
 * already created and can join later.
 */
export async function joinGeneral(
	{ directory, requests }: Pick<Services, 'directory' | 'requests'>,
	{ id: user, team, isBot }: User,
): Promise<string | undefined> {
	if (isBot) return undefined;
	try {
		const channel = generalChannelOf(team);
		const [general] = await directory.conversations([channel]);
		if (!general) return undefined;
		await requests.submit({ user: '', team }, channel, { type: 'add_members', users: [user] });
		return channel;
	} catch (error) {
		if (!(error instanceof Rejection)) throw error;
		return undefined;
	}
}

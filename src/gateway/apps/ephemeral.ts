import type { App } from '../../engine/ports/apps.ts';
import { formatTs } from '../../model/ts.ts';
import { botIdOf, type JsonObject } from '../../protocol/objects.ts';
import type { Services } from '../services.ts';

/**
 * A message that only one user sees, on sockets that are open now; it is not stored. When the user clicks
 * one of its blocks, its signature proves that the app sent these blocks.
 */

export interface EphemeralContent {
	readonly text: string;
	readonly blocks?: readonly JsonObject[] | undefined;
	readonly attachments?: readonly JsonObject[] | undefined;
	readonly thread_ts?: string | undefined;
}

type Parts = Pick<Services, 'bus' | 'clock' | 'teamSecrets'>;

export async function sendEphemeral(
	services: Parts,
	app: Pick<App, 'id' | 'team' | 'botUser'>,
	to: { readonly channel: string; readonly user: string; readonly replaces?: string | undefined },
	{ text, blocks, attachments, thread_ts }: EphemeralContent,
): Promise<string> {
	const ts = to.replaces ?? formatTs(services.clock.next());
	const message: JsonObject = {
		type: 'message',
		subtype: 'bot_message',
		is_ephemeral: true,
		user: app.botUser,
		bot_id: botIdOf({ id: app.botUser }),
		app_id: app.id,
		team: app.team,
		text,
		ts,
		...(blocks ? { blocks } : {}),
		...(attachments ? { attachments } : {}),
		...(thread_ts === undefined ? {} : { thread_ts }),
		signature: await signatureOf(services, app, { ...to, ts, blocks: blocks ?? [] }),
	};
	const frame = to.replaces
		? {
				type: 'message',
				subtype: 'message_changed',
				hidden: true,
				is_ephemeral: true,
				channel: to.channel,
				ts,
				message,
			}
		: { ...message, channel: to.channel, event_ts: ts };
	services.bus.publish(`user:${to.user}`, { type: 'event', frame: JSON.stringify(frame) });
	return ts;
}

export function removeEphemeral({ bus }: Parts, to: { channel: string; user: string; ts: string }): void {
	const { channel, user, ts } = to;
	const frame = {
		type: 'message',
		subtype: 'message_deleted',
		hidden: true,
		is_ephemeral: true,
		channel,
		ts,
		deleted_ts: ts,
	};
	bus.publish(`user:${user}`, { type: 'event', frame: JSON.stringify(frame) });
}

/** Signs the fields that an interaction takes from the message. */
export async function signatureOf(
	{ teamSecrets }: Pick<Services, 'teamSecrets'>,
	{ id, team }: Pick<App, 'id' | 'team'>,
	about: {
		readonly channel: string;
		readonly user: string;
		readonly ts: string;
		readonly blocks: readonly JsonObject[];
	},
): Promise<string> {
	const digest = await teamSecrets.digestFor(team, 'ephemeral');
	const { channel, user, ts, blocks } = about;
	return Buffer.from(digest(JSON.stringify([id, channel, user, ts, blocks]))).toString('base64url');
}

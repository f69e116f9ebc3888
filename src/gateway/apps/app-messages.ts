import type { App } from '../../engine/ports/apps.ts';
import type { Message } from '../../model/message.ts';
import { formatTs, parseTs } from '../../model/ts.ts';
import { botIdOf, type JsonObject } from '../../protocol/objects.ts';
import type { Action } from '../../sequencer/commands.ts';
import * as type from '../http/argument-types.ts';
import { optional, parseArguments, type Values, withDefault } from '../http/arguments.ts';
import { contentArguments, cutText, encodeExtra, hasContent, noText } from '../http/message-content.ts';
import { IDENTITY_FIELDS, identityArguments, identityOf } from '../http/message-identity.ts';
import type { Services } from '../services.ts';
import { removeEphemeral, sendEphemeral } from './ephemeral.ts';
import type { ResponsePass } from './passes.ts';

/**
 * Posts on behalf of an app: answers to a user's action, and webhooks, in the conversation or to that user alone.
 */

const MESSAGE_ARGUMENTS = {
	...contentArguments,
	...identityArguments,
	response_type: withDefault(type.oneOf(['ephemeral', 'in_channel']), 'ephemeral'),
	replace_original: type.flag,
	delete_original: type.flag,
	thread_ts: optional(type.ts('thread_not_found')),
};

export type AppMessage = Values<typeof MESSAGE_ARGUMENTS>;
type PostingApp = Pick<App, 'id' | 'team' | 'botUser'>;

export const parseAppMessage = (answer: JsonObject): AppMessage =>
	parseArguments(MESSAGE_ARGUMENTS, new Map(Object.entries(answer)));

/** Answers in the conversation that the pass is for. */
export async function respond(
	services: Services,
	app: PostingApp,
	pass: Omit<ResponsePass, 'until' | 'nonce'>,
	message: AppMessage,
): Promise<void> {
	const { channel, user, ts, ephemeral, threadTs } = pass;
	if (message.delete_original && ts !== undefined) {
		if (ephemeral) removeEphemeral(services, { channel, user, ts });
		else await act(services, app, channel, { type: 'delete', ts: microsOf(ts), asGuest: true });
		return;
	}
	if (!hasContent(message)) throw noText();
	if (message.replace_original && ts !== undefined && !ephemeral) {
		await replace(services, app, channel, microsOf(ts), message);
		return;
	}
	if (message.response_type === 'in_channel') {
		await postAsApp(services, app, channel, {
			...message,
			thread_ts: message.thread_ts ?? optionalMicros(threadTs),
		});
		return;
	}
	const replaces = message.replace_original && ephemeral ? ts : undefined;
	const { text = '', blocks, attachments } = message;
	const thread_ts = message.thread_ts === undefined ? threadTs : formatTs(message.thread_ts);
	await sendEphemeral(services, app, { channel, user, replaces }, { text, blocks, attachments, thread_ts });
}

const microsOf = (ts: string): number => parseTs(ts) ?? 0;
const optionalMicros = (ts: string | undefined): number | undefined =>
	ts === undefined ? undefined : parseTs(ts);

/** Posts a message of the app's bot, which need not be a member. */
export async function postAsApp(
	services: Services,
	app: PostingApp,
	channel: string,
	message: Partial<AppMessage>,
): Promise<Message> {
	const { text } = cutText(message.text ?? '');
	const { blocks, attachments, metadata, username, icon_emoji, icon_url } = message;
	const identity = identityOf({ isBot: true }, { username, icon_emoji, icon_url });
	const bot_id = botIdOf({ id: app.botUser });
	const extra = encodeExtra({ blocks, attachments, metadata, ...identity, bot_id });
	const { message: posted } = await act(services, app, channel, {
		type: 'post',
		content: { text, extra },
		threadTs: message.thread_ts ?? null,
		broadcast: false,
		clientMsgId: null,
		asGuest: true,
	});
	if (!posted) throw new Error('posting returned no message');
	return posted;
}

async function replace(
	services: Services,
	app: PostingApp,
	channel: string,
	ts: number,
	message: AppMessage,
) {
	const { blocks, attachments } = message;
	const extra = encodeExtra({ blocks, attachments, bot_id: botIdOf({ id: app.botUser }) });
	const content = { text: cutText(message.text ?? '').text, extra };
	await act(services, app, channel, { type: 'edit', ts, content, keep: IDENTITY_FIELDS, asGuest: true });
}

const act = ({ requests }: Services, app: PostingApp, channel: string, action: Action) =>
	requests.submit({ user: app.botUser, team: app.team }, channel, action);

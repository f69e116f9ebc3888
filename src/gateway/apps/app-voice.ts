import type { App } from '../../engine/ports/apps.ts';
import { Refusal } from '../../model/errors.ts';
import type { Message } from '../../model/message.ts';
import { formatTs, parseTs } from '../../model/ts.ts';
import { botIdOf, type JsonObject } from '../../protocol/objects.ts';
import type { Action } from '../../sequencer/commands.ts';
import * as type from '../http/argument-types.ts';
import { optional, parseArguments, type Values, withDefault } from '../http/arguments.ts';
import { contentArguments, cutText, encodeExtra } from '../http/message-content.ts';
import { IDENTITY_FIELDS, identityArguments, identityOf } from '../http/message-identity.ts';
import type { Services } from '../services.ts';
import { removeEphemeral, sendEphemeral } from './ephemeral.ts';
import type { ResponsePass } from './passes.ts';

/** What an app says where a user called it, or through a webhook: in the conversation or to that user alone. */

const RESPONSE = {
	...contentArguments,
	...identityArguments,
	response_type: withDefault(type.oneOf(['ephemeral', 'in_channel']), 'ephemeral'),
	replace_original: type.flag,
	delete_original: type.flag,
	thread_ts: optional(type.ts('thread_not_found')),
};

export type Spoken = Values<typeof RESPONSE>;
type Speaker = Pick<App, 'id' | 'team' | 'botUser'>;

export const spokenOf = (answer: JsonObject): Spoken =>
	parseArguments(RESPONSE, new Map(Object.entries(answer)));

export const saysSomething = ({ text, blocks, attachments }: Partial<Spoken>): boolean =>
	(text ?? '').trim() !== '' || (blocks?.length ?? 0) > 0 || (attachments?.length ?? 0) > 0;

/** Answers where the pass is for. */
export async function respond(
	services: Services,
	app: Speaker,
	pass: Omit<ResponsePass, 'until' | 'nonce'>,
	spoken: Spoken,
): Promise<void> {
	const { channel, user, ts, ephemeral, threadTs } = pass;
	if (spoken.delete_original && ts !== undefined) {
		if (ephemeral) removeEphemeral(services, { channel, user, ts });
		else await act(services, app, channel, { type: 'delete', ts: microsOf(ts), asGuest: true });
		return;
	}
	if (!saysSomething(spoken)) throw new Refusal('no_text', 'text: required, or blocks or attachments');
	if (spoken.replace_original && ts !== undefined && !ephemeral) {
		await replace(services, app, channel, microsOf(ts), spoken);
		return;
	}
	if (spoken.response_type === 'in_channel') {
		await speak(services, app, channel, { ...spoken, thread_ts: spoken.thread_ts ?? microsOr(threadTs) });
		return;
	}
	const replaces = spoken.replace_original && ephemeral ? ts : undefined;
	const { text = '', blocks, attachments } = spoken;
	const thread_ts = spoken.thread_ts === undefined ? threadTs : formatTs(spoken.thread_ts);
	await sendEphemeral(services, app, { channel, user, replaces }, { text, blocks, attachments, thread_ts });
}

const microsOf = (ts: string): number => parseTs(ts) ?? 0;
const microsOr = (ts: string | undefined): number | undefined => (ts === undefined ? undefined : parseTs(ts));

/** A message of the app's bot, which need not be a member. */
export async function speak(
	services: Services,
	app: Speaker,
	channel: string,
	spoken: Partial<Spoken> & { readonly link?: boolean },
): Promise<Message> {
	const { text } = cutText(spoken.text ?? '');
	const { blocks, attachments, metadata, username, icon_emoji, icon_url } = spoken;
	const identity = identityOf({ isBot: true }, { username, icon_emoji, icon_url });
	const bot_id = botIdOf({ id: app.botUser });
	const extra = encodeExtra({ blocks, attachments, metadata, ...identity, bot_id });
	const { message } = await act(services, app, channel, {
		type: 'post',
		content: { text, extra },
		threadTs: spoken.thread_ts ?? null,
		broadcast: false,
		clientMsgId: null,
		asGuest: true,
	});
	if (!message) throw new Error('posting returned no message');
	return message;
}

async function replace(services: Services, app: Speaker, channel: string, ts: number, spoken: Spoken) {
	const { blocks, attachments } = spoken;
	const extra = encodeExtra({ blocks, attachments, bot_id: botIdOf({ id: app.botUser }) });
	const content = { text: cutText(spoken.text ?? '').text, extra };
	await act(services, app, channel, { type: 'edit', ts, content, keep: IDENTITY_FIELDS, asGuest: true });
}

const act = ({ requests }: Services, app: Speaker, channel: string, action: Action) =>
	requests.submit({ user: app.botUser, team: app.team }, channel, action);

import { Refusal } from '../../../model/errors.ts';
import { formatTs } from '../../../model/ts.ts';
import { messageInThread } from '../../../protocol/message-events.ts';
import { botIdOf, wireMessage } from '../../../protocol/objects.ts';
import type { Content } from '../../../sequencer/commands.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { warned } from '../envelope.ts';
import { contentArguments, cutText, type ExtraContent, encodeExtra, MAX_TEXT } from '../message-content.ts';
import { type UserCall, userMethod } from '../method.ts';
import { submit } from '../submit.ts';

/** Posting, editing and deleting. */

const CARRIED_BY_CLIENTS = [
	'as_user',
	'icon_emoji',
	'icon_url',
	'link_names',
	'mrkdwn',
	'parse',
	'unfurl_links',
	'unfurl_media',
	'username',
];

const CLIENT_MSG_ID_LENGTH = 255;

export const chatPostMessage = userMethod({
	limited: 'posts',
	arguments: {
		channel: type.channel,
		...contentArguments,
		thread_ts: optional(type.ts('thread_not_found')),
		reply_broadcast: type.flag,
		client_msg_id: optional(type.text({ max: CLIENT_MSG_ID_LENGTH, takesEmpty: false })),
	},
	ignored: CARRIED_BY_CLIENTS,
	run: async (args, call) => {
		const { text, wasCut } = cutText(args.text ?? '');
		const { message, parentUser } = await submit(call, args.channel, {
			type: 'post',
			content: contentOf(call, text, args),
			threadTs: args.thread_ts ?? null,
			broadcast: args.reply_broadcast,
			clientMsgId: args.client_msg_id ?? null,
		});
		if (!message) throw new Error('posting answered no message');
		return {
			channel: args.channel,
			ts: formatTs(message.ts),
			message: {
				...wireMessage(message, call.caller.team),
				// Replies tell whose message they answer.
				...(parentUser === undefined ? {} : { parent_user_id: parentUser }),
			},
			...(wasCut ? warned('message_truncated') : {}),
		};
	},
});

function contentOf(call: UserCall, text: string, extra: ExtraContent): Content {
	if (text.trim() === '' && !extra.blocks?.length && !extra.attachments?.length)
		throw new Refusal('no_text', 'text: required, or blocks or attachments');
	return { text, extra: extraOf(call, extra) };
}

const EXTRA_FIELDS = ['blocks', 'attachments', 'metadata'] as const;

function extraOf({ caller }: UserCall, { blocks, attachments, metadata }: ExtraContent): string | null {
	const bot = caller.user.isBot ? { bot_id: botIdOf(caller.user) } : {};
	return encodeExtra({ blocks, attachments, metadata, ...bot });
}

export const chatUpdate = userMethod({
	limited: 'posts',
	arguments: { channel: type.channel, ts: type.ts('message_not_found'), ...contentArguments },
	ignored: [...CARRIED_BY_CLIENTS, 'file_ids', 'reply_broadcast'],
	run: async (args, call) => {
		const { channel, ts } = args;
		if (args.text === undefined && !args.blocks && !args.attachments)
			throw new Refusal('no_text', 'text: required, or blocks or attachments');
		const text = args.text ?? '';
		if (text.length > MAX_TEXT) throw new Refusal('msg_too_long', `text: at most ${MAX_TEXT} characters`);
		// What an edit does not mention stays: an empty list or object takes it away, as at Slack.
		const keep = EXTRA_FIELDS.filter((name) => args[name] === undefined);
		const content = { text, extra: extraOf(call, args) };
		const { message, thread } = await submit(call, channel, { type: 'edit', ts, content, keep });
		if (!message) throw new Error('editing answered no message');
		return {
			channel,
			ts: formatTs(ts),
			text: message.text,
			message: messageInThread(message, call.caller.team, thread ?? null),
		};
	},
});

export const chatDelete = userMethod({
	limited: 'posts',
	arguments: { channel: type.channel, ts: type.ts('message_not_found') },
	ignored: ['as_user'],
	run: async ({ channel, ts }, call) => {
		await submit(call, channel, { type: 'delete', ts });
		return { channel, ts: formatTs(ts) };
	},
});

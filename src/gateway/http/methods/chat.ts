import { Rejection } from '../../../model/errors.ts';
import { linkNames, type Mention, writtenNames } from '../../../model/link-names.ts';
import { formatTs } from '../../../model/ts.ts';
import { messageInThread } from '../../../protocol/message-events.ts';
import { botIdOf, wireMessage } from '../../../protocol/objects.ts';
import type { Content } from '../../../sequencer/commands.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { warned } from '../envelope.ts';
import {
	contentArguments,
	cutText,
	type ExtraContent,
	encodeExtra,
	hasContent,
	MAX_TEXT,
	noText,
} from '../message-content.ts';
import { IDENTITY_FIELDS, identityArguments, identityOf } from '../message-identity.ts';
import { type UserCall, userMethod } from '../method.ts';
import { postTarget } from '../post-target.ts';
import { submit } from '../submit.ts';

/** Posting, editing and deleting. */

export const IGNORED_ARGUMENTS = ['as_user', 'mrkdwn', 'unfurl_links', 'unfurl_media'];

/**
 * Turns names in the text into mentions and links. Slack's `parse=full` also links URLs, which clients do
 * themselves.
 */
export const linkNamesArguments = { link_names: type.flag, parse: optional(type.text({ max: 40 })) };

const CLIENT_MSG_ID_LENGTH = 255;

export const chatPostMessage = userMethod({
	limited: 'posts',
	arguments: {
		channel: type.target,
		...contentArguments,
		...identityArguments,
		...linkNamesArguments,
		thread_ts: optional(type.ts('thread_not_found')),
		reply_broadcast: type.flag,
		client_msg_id: optional(type.text({ max: CLIENT_MSG_ID_LENGTH, takesEmpty: false })),
	},
	ignored: IGNORED_ARGUMENTS,
	run: async (args, call) => {
		const { text, wasCut } = cutText(await textOf(call, args));
		const { blocks, attachments, metadata } = args;
		const identity = identityOf(call.caller.user, args);
		const content = contentOf(call, text, { blocks, attachments, metadata, ...identity });
		const channel = await postTarget(call, args.channel);
		const { message, parentUser } = await submit(call, channel, {
			type: 'post',
			content,
			threadTs: args.thread_ts ?? null,
			broadcast: args.reply_broadcast,
			clientMsgId: args.client_msg_id ?? null,
		});
		if (!message) throw new Error('posting returned no message');
		return {
			channel,
			ts: formatTs(message.ts),
			message: {
				...wireMessage(message, call.caller.team),
				// A reply carries the author of the root.
				...(parentUser === undefined ? {} : { parent_user_id: parentUser }),
			},
			...(wasCut ? warned('message_truncated') : {}),
		};
	},
});

interface LinkNamesArguments {
	readonly text: string | undefined;
	readonly link_names: boolean;
	readonly parse: string | undefined;
}

/** Implements `link_names`: replaces `@name` and `#name` with mentions and links. Links only public channels. */
export async function linkedText(
	{ services, caller }: UserCall,
	text: string,
	mention?: Mention,
): Promise<string> {
	const names = writtenNames(text);
	if (names.users.length + names.channels.length === 0) return text;
	const { directory } = services;
	const users = await directory.usersNamed(caller.team, names.users);
	const ids = await Promise.all(names.channels.map((name) => directory.channelNamed(caller.team, name)));
	const channels = await directory.conversations(ids.filter((id) => id !== null));
	return linkNames(
		text,
		new Map(users.filter(({ deleted }) => !deleted).map(({ id, name }) => [name, id])),
		new Map(channels.filter(({ kind }) => kind === 'public').map(({ id, name }) => [name, id])),
		mention,
	);
}

export const textOf = async (call: UserCall, args: LinkNamesArguments): Promise<string> =>
	args.link_names || args.parse === 'full' ? linkedText(call, args.text ?? '') : (args.text ?? '');

/** `/me waves`: a message that clients show as an action of its author. */
export const chatMeMessage = userMethod({
	limited: 'posts',
	arguments: { channel: type.target, text: type.text({ missing: 'no_text', takesEmpty: false }) },
	run: async (args, call) => {
		const { text } = cutText(args.text);
		const content = contentOf(call, text, { subtype: 'me_message' });
		const channel = await postTarget(call, args.channel);
		const post = { type: 'post', content, threadTs: null, broadcast: false, clientMsgId: null } as const;
		const { message } = await submit(call, channel, post);
		if (!message) throw new Error('posting returned no message');
		return { channel, ts: formatTs(message.ts) };
	},
});

export function contentOf(call: UserCall, text: string, extra: ExtraContent): Content {
	if (!hasContent({ ...extra, text })) throw noText();
	return { text, extra: extraOf(call, extra) };
}

/** The fields that an edit can set besides the text. The name under which a message was posted stays. */
const EDITED_FIELDS = ['blocks', 'attachments', 'metadata'] as const;
/** Only `files.delete` removes these. */
const FILE_FIELDS = ['files', 'upload'] as const;

function extraOf({ caller }: UserCall, extra: ExtraContent): string | null {
	const bot = caller.user.isBot ? { bot_id: botIdOf(caller.user) } : {};
	return encodeExtra({ ...extra, ...bot });
}

export const chatUpdate = userMethod({
	limited: 'posts',
	arguments: {
		channel: type.channel,
		ts: type.ts('message_not_found'),
		...contentArguments,
		...linkNamesArguments,
	},
	ignored: [...IGNORED_ARGUMENTS, 'file_ids', 'icon_emoji', 'icon_url', 'reply_broadcast', 'username'],
	run: async (args, call) => {
		const { channel, ts } = args;
		if (args.text === undefined && !args.blocks && !args.attachments) throw noText();
		const text = await textOf(call, args);
		if (text.length > MAX_TEXT) throw new Rejection('msg_too_long', `text: at most ${MAX_TEXT} characters`);
		// Fields that the request omits stay; an empty list or object removes a field, as at Slack.
		const keep = [
			...EDITED_FIELDS.filter((name) => args[name] === undefined),
			...IDENTITY_FIELDS,
			...FILE_FIELDS,
		];
		const content = { text, extra: extraOf(call, args) };
		const { message, thread } = await submit(call, channel, { type: 'edit', ts, content, keep });
		if (!message) throw new Error('editing returned no message');
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

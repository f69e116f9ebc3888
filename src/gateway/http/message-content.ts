import { Rejection } from '../../model/errors.ts';
import type { JsonObject } from '../../protocol/objects.ts';
import { MAX_EXTRA_BYTES } from '../../sequencer/commands.ts';
import * as type from './argument-types.ts';
import { optional } from './arguments.ts';
import type { MessageIdentity } from './message-identity.ts';

/** The content of a message: its text, and the parts that the server stores without interpreting them. */

export const MAX_TEXT = 40_000;

export const contentArguments = {
	text: optional(type.text()),
	blocks: type.objects({ bad: 'invalid_blocks_format', max: 50, tooMany: 'invalid_blocks_format' }),
	attachments: type.objects({
		bad: 'invalid_attachments_format',
		max: 100,
		tooMany: 'too_many_attachments',
	}),
	metadata: type.metadata,
};

export interface ExtraContent extends MessageIdentity {
	readonly blocks?: readonly JsonObject[] | undefined;
	readonly attachments?: readonly JsonObject[] | undefined;
	readonly metadata?: JsonObject | undefined;
	readonly bot_id?: string | undefined;
	/** Set by the server only. */
	readonly files?: readonly JsonObject[] | undefined;
	readonly upload?: boolean | undefined;
}

/** Whether the message shows something to a reader. The sequencer rejects a message without content too (`no_text`). */
export const hasContent = (message: ExtraContent & { readonly text?: string | undefined }): boolean =>
	(message.text ?? '').trim() !== '' ||
	[message.blocks, message.attachments, message.files].some((parts) => (parts?.length ?? 0) > 0);

/** The error does not list files as content, because clients cannot send them: only uploads set them. */
export const noText = (): Rejection => new Rejection('no_text', 'text: required, or blocks or attachments');

/** Null if there is no extra content. */
export function encodeExtra(extra: ExtraContent): string | null {
	const { blocks, attachments, metadata, bot_id, files, upload, subtype, username, icons } = extra;
	const present: ExtraContent = {
		...(blocks?.length ? { blocks } : {}),
		...(attachments?.length ? { attachments } : {}),
		...(metadata && Object.keys(metadata).length > 0 ? { metadata } : {}),
		...(subtype === undefined ? {} : { subtype }),
		...(username === undefined ? {} : { username }),
		...(icons === undefined ? {} : { icons }),
		...(bot_id === undefined ? {} : { bot_id }),
		...(files?.length ? { files } : {}),
		...(upload === undefined ? {} : { upload }),
	};
	if (Object.keys(present).length === 0) return null;
	const text = JSON.stringify(present);
	if (Buffer.byteLength(text) > MAX_EXTRA_BYTES)
		throw new Rejection(
			'msg_blocks_too_long',
			`blocks, attachments, metadata: at most ${MAX_EXTRA_BYTES} bytes in total`,
		);
	return text;
}

/** As at Slack, a text that is too long is cut, and the answer has a warning. */
export function cutText(text: string): { text: string; wasCut: boolean } {
	if (text.length <= MAX_TEXT) return { text, wasCut: false };
	const isSplitPair = /[\uD800-\uDBFF]/.test(text.charAt(MAX_TEXT - 1));
	return { text: text.slice(0, isSplitPair ? MAX_TEXT - 1 : MAX_TEXT), wasCut: true };
}

import type { Message } from '../model/message.ts';

/**
 * A message small enough to embed in others: the beginning of its text, without blocks, attachments, files and
 * metadata.
 */

const PREVIEW_CHARACTERS = 200;

export interface Preview {
	readonly message: Message;
	/** Whether something was left out. */
	readonly isCut: boolean;
}

export function previewOf(message: Message): Preview {
	const text = beginning(message.text);
	const { blocks, attachments, files, metadata, ...small } = JSON.parse(message.extra ?? '{}');
	const left = [blocks, attachments, files, metadata];
	const isCut = text !== message.text || left.some((part) => part !== undefined);
	if (!isCut) return { message, isCut };
	const extra = Object.keys(small).length === 0 ? null : JSON.stringify(small);
	return { message: { ...message, text, extra }, isCut };
}

function beginning(text: string): string {
	if (text.length <= PREVIEW_CHARACTERS) return text;
	const isSplitPair = /[\uD800-\uDBFF]/.test(text.charAt(PREVIEW_CHARACTERS - 1));
	return text.slice(0, isSplitPair ? PREVIEW_CHARACTERS - 1 : PREVIEW_CHARACTERS);
}

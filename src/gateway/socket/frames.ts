import { Rejection } from '../../model/errors.ts';
import { isConversationId, isUserId } from '../../model/ids.ts';
import { storable } from '../../model/text.ts';
import { parseTs } from '../../model/ts.ts';
import { isJsonObject, type JsonObject } from '../../protocol/objects.ts';

/** Parses and checks the frames that clients send; session.ts performs them. */

export const MAX_FRAME_BYTES = 16 * 1024;
export const MAX_FRAME_TEXT = 4_000;

/** The client missed too much to resume. */
export const TOO_FAR_BEHIND = '{"type":"resync","reason":"too_far_behind"}';

export type ClientFrame =
	| { readonly type: 'ping'; readonly id: number | undefined; readonly echo: JsonObject }
	| {
			readonly type: 'message';
			/** Missing in frames of Slack's Java client. */
			readonly id: number | undefined;
			readonly channel: string;
			readonly text: string;
			readonly threadTs: number | null;
			readonly broadcast: boolean;
			readonly clientMsgId: string | null;
	  }
	| {
			readonly type: 'typing';
			readonly id: number | undefined;
			readonly channel: string;
			readonly threadTs: number | null;
	  }
	| {
			readonly type: 'presence_sub' | 'presence_query';
			readonly id: number | undefined;
			readonly ids: readonly string[];
	  }
	/** The device starts or stops showing the conversation to its user. */
	| {
			readonly type: 'channel_focus';
			readonly id: number | undefined;
			readonly channel: string;
			readonly revision: number | undefined;
	  }
	| { readonly type: 'channel_blur'; readonly id: number | undefined; readonly channel: string }
	| {
			readonly type: 'mark';
			readonly id: number;
			readonly channel: string;
			readonly ts: number;
			readonly revision: number | undefined;
	  };

/** RTM's error codes, which client libraries check. */
export const RTM_ERRORS = { expired: 1, bad_message: 2, rate_limited: 17 } as const;

/** A frame that cannot be performed, with the id for the reply if it had one. */
export class BadFrame extends Error {
	constructor(
		message: string,
		readonly id?: number,
	) {
		super(message);
		this.name = 'BadFrame';
	}
}

export function parseFrame(text: string): ClientFrame {
	const frame = parseObject(text);
	const id = frameId(frame);
	switch (frame.type) {
		case 'ping': {
			const { type: _type, id: _id, ...echo } = frame;
			return { type: 'ping', id, echo: echo as JsonObject };
		}
		case 'message':
			return messageFrame(frame, id);
		case 'typing':
			return { type: 'typing', id, channel: channelOf(frame, id), threadTs: threadOf(frame, id) };
		case 'presence_sub':
		case 'presence_query':
			return { type: frame.type, id, ids: idsOf(frame, id) };
		case 'channel_focus':
			return { type: 'channel_focus', id, channel: channelOf(frame, id), revision: revisionOf(frame, id) };
		case 'channel_blur':
			return { type: 'channel_blur', id, channel: channelOf(frame, id) };
		case 'mark':
			return markFrame(frame, required(id, 'id must be a positive whole number'));
		default:
			throw new BadFrame('type is missing or unknown', id);
	}
}

function parseObject(text: string): Record<string, unknown> {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw new BadFrame('the frame is not JSON');
	}
	if (!isJsonObject(value)) throw new BadFrame('the frame is not a JSON object');
	return value;
}

function frameId(frame: Record<string, unknown>): number | undefined {
	const id = frame.id;
	return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

function required<T>(value: T | undefined, problem: string, id?: number): T {
	if (value === undefined) throw new BadFrame(problem, id);
	return value;
}

function channelOf(frame: Record<string, unknown>, id: number | undefined): string {
	const { channel } = frame;
	if (typeof channel !== 'string' || !isConversationId(channel))
		throw new BadFrame('channel must be a conversation id', id);
	return channel;
}

function idsOf(frame: Record<string, unknown>, id: number | undefined): string[] {
	const { ids } = frame;
	const valid = Array.isArray(ids) && ids.every((one) => typeof one === 'string' && isUserId(one));
	if (!valid) throw new BadFrame('ids must be a list of user ids', id);
	return [...new Set(ids as string[])];
}

function tsOf(value: unknown, name: string, id: number | undefined): number {
	const ts = typeof value === 'string' ? parseTs(value) : undefined;
	return required(ts, `${name} must be a ts like 1717200000.123456`, id);
}

function threadOf({ thread_ts: thread }: Record<string, unknown>, id: number | undefined): number | null {
	return thread === undefined || thread === null ? null : tsOf(thread, 'thread_ts', id);
}

function messageFrame(frame: Record<string, unknown>, id: number | undefined): ClientFrame {
	const { text, client_msg_id: clientMsgId = '' } = frame;
	if (typeof text !== 'string' || text.trim() === '') throw new BadFrame('text is missing', id);
	if (text.length > MAX_FRAME_TEXT)
		throw new BadFrame(`text may have at most ${MAX_FRAME_TEXT} characters`, id);
	if (typeof clientMsgId !== 'string' || clientMsgId.length > 255)
		throw new BadFrame('client_msg_id must be a text of up to 255 characters', id);
	return {
		type: 'message',
		id,
		channel: channelOf(frame, id),
		text: storable(text),
		threadTs: threadOf(frame, id),
		broadcast: frame.reply_broadcast === true,
		clientMsgId: clientMsgId === '' ? null : storable(clientMsgId),
	};
}

const markFrame = (frame: Record<string, unknown>, id: number): ClientFrame => ({
	type: 'mark',
	id,
	channel: channelOf(frame, id),
	ts: tsOf(frame.ts, 'ts', id),
	revision: revisionOf(frame, id),
});

function revisionOf({ revision }: Record<string, unknown>, id: number | undefined): number | undefined {
	if (revision === undefined || revision === null) return undefined;
	const valid = typeof revision === 'number' && Number.isSafeInteger(revision) && revision >= 0;
	if (!valid) throw new BadFrame('revision must be a whole number', id);
	return revision;
}

/** The reply to a rejected frame. Slack's clients read only `code` and `msg`. */
export function rejectedFrame(error: unknown, id: number | undefined): JsonObject {
	const limited = error instanceof Rejection && error.code === 'ratelimited';
	const code = limited ? RTM_ERRORS.rate_limited : RTM_ERRORS.bad_message;
	const retry = limited && error.retryAfterSeconds ? { retry_after: error.retryAfterSeconds } : {};
	const problem = { code, msg: messageOf(error), ...retry };
	return id === undefined ? { type: 'error', error: problem } : { ok: false, reply_to: id, error: problem };
}

function messageOf(error: unknown): string {
	if (error instanceof Rejection) return error.code;
	return error instanceof BadFrame ? error.message : 'internal_error';
}

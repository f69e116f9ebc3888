import type { NotificationLevel } from '../../engine/ports/facts.ts';
import { type ErrorCode, Rejection } from '../../model/errors.ts';
import { type ConversationKind, isConversationId, isTeamId, isUserId } from '../../model/ids.ts';
import { parsePosition } from '../../model/position.ts';
import { storable } from '../../model/text.ts';
import { parseBound, parseTs } from '../../model/ts.ts';
import { isJsonObject, type Json, type JsonObject } from '../../protocol/objects.ts';
import { type Argument, optional, required, withDefault } from './arguments.ts';
import { type CursorKind, decodeCursor } from './paging.ts';

/** The types of arguments that methods use, each with Slack's error code for an invalid value. */

/** Never `String(value)`: a JSON object such as `{"toString": false}` would make it throw. */
export const asText = (value: unknown): string | undefined =>
	typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;

const idOf = (isId: (text: string) => boolean, expects: string, bad: ErrorCode): Argument<string> =>
	required({
		expects,
		bad,
		parse: (value) => (typeof value === 'string' && isId(value) ? value : undefined),
	});

export const channel = idOf(isConversationId, 'a conversation id', 'channel_not_found');
/** Where to post; the method resolves it to a conversation. */
export const target: Argument<string> = required({
	expects: 'a conversation id, #name of a channel, or a user id',
	bad: 'channel_not_found',
	parse: (value) => (typeof value === 'string' && value.length <= 255 ? storable(value) : undefined),
});
export const user = idOf(isUserId, 'a user id', 'user_not_found');
export const file = idOf((text) => /^F[A-Z0-9]{2,20}$/.test(text), 'a file id', 'file_not_found');
export const team = idOf(isTeamId, 'a workspace id', 'team_not_found');

export const text = (settings: { missing?: ErrorCode; max?: number; takesEmpty?: boolean } = {}) =>
	required<string>({
		expects: settings.max === undefined ? 'a text' : `a text of up to ${settings.max} characters`,
		missing: settings.missing ?? 'missing_argument',
		takesEmpty: settings.takesEmpty ?? true,
		parse: (value) => {
			const found = asText(value);
			return found === undefined || found.length > (settings.max ?? Infinity) ? undefined : storable(found);
		},
	});

export const matching = (pattern: RegExp, expects: string): Argument<string> =>
	required({
		expects,
		parse: (value) => (typeof value === 'string' && pattern.test(value) ? value : undefined),
	});

/** A token as sent; the authenticator checks its form. */
export const secret: Argument<string> = required({
	expects: 'a token',
	bad: 'token_not_found',
	parse: (value) => (typeof value === 'string' ? value : undefined),
});

/** Exactly the form that messages carry. */
export const ts = (bad: ErrorCode): Argument<number> =>
	required({
		expects: 'a ts of the form 1717200000.123456',
		bad,
		parse: (value) => (typeof value === 'string' ? parseTs(value) : undefined),
	});

/** The ts of a mark may also be `0`: before everything. */
export const markTs: Argument<number> = required({
	expects: 'a ts of the form 1717200000.123456',
	bad: 'invalid_timestamp',
	parse: (value) =>
		value === '0' || value === 0 ? 0 : typeof value === 'string' ? parseTs(value) : undefined,
});

const bound = (bad: ErrorCode): Argument<number | undefined> =>
	optional(
		required({
			expects: 'a timestamp',
			bad,
			parse: (value) => {
				const found = parseBound(asText(value) ?? '');
				return found === undefined ? undefined : Math.min(found, Number.MAX_SAFE_INTEGER - 1);
			},
		}),
	);

export const oldest = bound('invalid_ts_oldest');
export const latest = bound('invalid_ts_latest');

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
	[true, true],
	[1, true],
	['true', true],
	['1', true],
	[false, false],
	[0, false],
	['false', false],
	['0', false],
]);

/** Accepts any case: Python clients send `True`. */
export const bool: Argument<boolean> = required({
	expects: 'true or false',
	parse: (value) => BOOLEANS.get(typeof value === 'string' ? value.toLowerCase() : value),
});

export const flag: Argument<boolean> = withDefault(bool, false);

const wholeNumber = (value: unknown): number | undefined => {
	const found = asText(value) ?? '';
	return /^\d{1,15}$/.test(found) ? Number(found) : undefined;
};

export const count: Argument<number> = required({ expects: 'a whole number', parse: wholeNumber });

export const MAX_PAGE = 1000;

/** As at Slack: a larger value means a full page, and 0 means the default. */
export const limit = (byDefault: number): Argument<number> =>
	withDefault(
		required({
			expects: 'a whole number',
			bad: 'invalid_limit',
			parse: (value) => {
				const found = wholeNumber(value);
				return found === 0 ? byDefault : found === undefined ? undefined : Math.min(found, MAX_PAGE);
			},
		}),
		byDefault,
	);

/** Where the next page starts; a method accepts only one kind of page cursor. */
export const cursor = (kind: CursorKind): Argument<string | undefined> =>
	optional(
		required({
			expects: 'a cursor that this method returned',
			bad: 'invalid_cursor',
			parse: (value) => (typeof value === 'string' ? decodeCursor(kind, value) : undefined),
		}),
	);

/** A page cursor that is encrypted for the caller (sealed-cursor.ts); the method decrypts it. */
export const sealedCursor: Argument<string | undefined> = optional(
	required({
		expects: 'a cursor that this method returned',
		bad: 'invalid_cursor',
		parse: (value) => (typeof value === 'string' ? value : undefined),
	}),
);

export const position: Argument<number> = required({
	expects: 'a position that the server returned',
	bad: 'invalid_position',
	parse: (value) => (typeof value === 'string' ? parsePosition(value) : undefined),
});

/** Parses a comma-separated list or a JSON array of texts, without duplicates. */
function parseList(value: unknown): string[] | undefined {
	const list = typeof value === 'string' && value.trimStart().startsWith('[') ? parseJson(value) : value;
	const items: unknown[] | undefined = Array.isArray(list)
		? list
		: typeof list === 'string'
			? list.split(',').map((item) => item.trim())
			: undefined;
	if (!items?.every((item) => typeof item === 'string')) return undefined;
	return [...new Set(items.filter((item) => item !== ''))];
}

export const texts = (max: number): Argument<readonly string[]> =>
	required({
		expects: `up to ${max} values, comma-separated or a JSON array`,
		bad: 'invalid_array_arg',
		parse: (value) => {
			const found = parseList(value);
			return found && found.length <= max ? found.map(storable) : undefined;
		},
	});

/** One or several ts, each in exactly the form that messages carry. */
export const tsList = (bad: ErrorCode, max: number): Argument<readonly number[]> =>
	required({
		expects: `up to ${max} ts of the form 1717200000.123456, comma-separated or a JSON array`,
		bad,
		parse: (value) => {
			const found = parseList(value)?.map((item) => parseTs(item));
			if (!found || found.length === 0 || found.length > max) return undefined;
			return found.every((item) => item !== undefined) ? found : undefined;
		},
	});

export const users = (missing: ErrorCode): Argument<readonly string[]> =>
	required({
		expects: 'user ids, comma-separated or a JSON array',
		bad: 'invalid_array_arg',
		missing,
		parse: (value, name) => {
			const ids = parseList(value);
			if (ids?.length === 0) throw new Rejection(missing, `${name}: give at least one user id`);
			const wrong = ids?.find((id) => !isUserId(id));
			if (wrong !== undefined)
				throw new Rejection('user_not_found', `${name}: ${storable(wrong).slice(0, 40)} is not a user id`);
			return ids;
		},
	});

const KIND_OF_TYPE: Readonly<Record<string, ConversationKind>> = {
	public_channel: 'public',
	private_channel: 'private',
	mpim: 'mpim',
	im: 'im',
};

export const types: Argument<readonly ConversationKind[]> = withDefault(
	required<readonly ConversationKind[]>({
		expects: 'public_channel, private_channel, mpim, im, comma-separated',
		bad: 'invalid_types',
		parse: (value) => {
			const names = parseList(value) ?? ['?'];
			const kinds: ConversationKind[] = [];
			for (const name of names) {
				const kind = Object.hasOwn(KIND_OF_TYPE, name) ? KIND_OF_TYPE[name] : undefined;
				if (!kind) return undefined;
				kinds.push(kind);
			}
			return kinds.length === 0 ? undefined : kinds;
		},
	}),
	['public'],
);

export const oneOf = <const T extends string>(
	choices: readonly T[],
	codes: { bad?: ErrorCode; missing?: ErrorCode } = {},
): Argument<T> =>
	required({
		...codes,
		expects: choices.join(', '),
		parse: (value) => choices.find((choice) => choice === value),
	});

export const notificationLevel: Argument<NotificationLevel> = oneOf(['all', 'mentions', 'none']);

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Real content is never this deep; deeper values would overflow the stack of code that walks them. */
const MAX_DEPTH = 40;

function isShallow(value: unknown, depth = 0): value is Json {
	if (typeof value !== 'object' || value === null) return true;
	if (depth >= MAX_DEPTH) return false;
	return Object.values(value).every((item) => isShallow(item, depth + 1));
}

/** Forms carry JSON as text. */
const jsonOf = (value: unknown): unknown => (typeof value === 'string' ? parseJson(value) : value);

export const objects = (settings: {
	bad: ErrorCode;
	max: number;
	tooMany: ErrorCode;
}): Argument<readonly JsonObject[] | undefined> =>
	optional(
		required<readonly JsonObject[]>({
			expects: 'a JSON array of objects',
			bad: settings.bad,
			parse: (value, name) => {
				const found = jsonOf(value);
				if (!Array.isArray(found) || !found.every(isJsonObject) || !isShallow(found)) return undefined;
				if (found.length > settings.max)
					throw new Rejection(settings.tooMany, `${name}: at most ${settings.max} are allowed`);
				return found;
			},
		}),
	);

/** A JSON object, or a text with one. */
export const object = (bad: ErrorCode): Argument<JsonObject | undefined> =>
	optional(
		required<JsonObject>({
			expects: 'a JSON object',
			bad,
			parse: (value) => {
				const found = jsonOf(value);
				return isJsonObject(found) && isShallow(found) ? found : undefined;
			},
		}),
	);

export const metadata: Argument<JsonObject | undefined> = optional(
	required<JsonObject>({
		expects: 'a JSON object with event_type and event_payload',
		bad: 'invalid_metadata_format',
		parse: (value) => {
			const found = jsonOf(value);
			if (!isJsonObject(found) || !isShallow(found)) return undefined;
			if (Object.keys(found).length === 0) return found;
			return typeof found.event_type === 'string' && isJsonObject(found.event_payload) ? found : undefined;
		},
	}),
);

import { Rejection } from '../../model/errors.ts';
import type { AppCaller, Caller, UserCaller } from '../auth/caller.ts';
import type { Limited } from '../limits.ts';
import type { Services } from '../services.ts';
import { checkNames, parseArguments, type Schema, type Values } from './arguments.ts';
import type { RawArguments } from './body.ts';
import type { Answer } from './envelope.ts';

/**
 * An API method: its arguments and its implementation. `userMethod`, `adminMethod`, `appMethod` and `openMethod`
 * create one; they type its arguments by the schema and reject callers of another kind.
 */

export interface Method {
	/** The kind of caller; `anyone` needs no token. */
	readonly audience: 'user' | 'admin' | 'app' | 'anyone';
	/** The limit that a call counts against. */
	readonly limited: Limited;
	readonly schema: Schema;
	/** Slack's arguments that clients send and that have no effect here; docs/methods.md lists them. */
	readonly ignored: ReadonlySet<string>;
	readonly call: (raw: RawArguments, caller: Caller, call: Call) => Promise<Answer>;
}

/** One request, as methods see it. */
export interface Call {
	readonly services: Services;
	readonly request: Request;
}

export interface UserCall extends Call {
	readonly caller: UserCaller;
}

/** Rows that one call may return at the cost of 1. */
const ROWS_PER_CALL = 100;
export const costOfRows = (rows: number): number => Math.max(1, Math.ceil(rows / ROWS_PER_CALL));

interface Definition<S extends Schema, C> {
	readonly arguments: S;
	readonly ignored?: readonly string[];
	readonly limited?: Limited;
	/**
	 * The number of calls that the rate limit counts for these arguments; default 1. It counts one call before the
	 * arguments are parsed, and the rest afterwards. Only `userMethod` uses it.
	 */
	readonly cost?: (args: Values<S>) => number;
	readonly run: (args: Values<S>, call: C) => Promise<Answer>;
}

export function userMethod<S extends Schema>(definition: Definition<S, UserCall>): Method {
	return {
		audience: 'user',
		limited: definition.limited ?? 'requests',
		schema: definition.arguments,
		ignored: new Set(definition.ignored),
		call: async (raw, caller, call) => {
			if (caller.kind !== 'user')
				throw new Rejection('not_allowed_token_type', 'token: this method needs the token of a user');
			const args = parseArguments(definition.arguments, raw);
			const more = (definition.cost?.(args) ?? 1) - 1;
			const wait =
				more > 0 ? call.services.limits.takeMore(caller.user.id, definition.limited ?? 'requests', more) : 0;
			if (wait > 0) throw new Rejection('ratelimited', 'this call counts as several requests', wait);
			return definition.run(args, { ...call, caller });
		},
	};
}

export interface AppCall extends Call {
	readonly caller: AppCaller;
}

/** For apps that call with an app-level token. */
export function appMethod<S extends Schema>(definition: Definition<S, AppCall>): Method {
	return {
		audience: 'app',
		limited: definition.limited ?? 'requests',
		schema: definition.arguments,
		ignored: new Set(definition.ignored),
		call: async (raw, caller, call) => {
			if (caller.kind !== 'app')
				throw new Rejection('not_allowed_token_type', 'token: this method needs an app-level token (xapp-…)');
			return definition.run(parseArguments(definition.arguments, raw), { ...call, caller });
		},
	};
}

/** For callers without a token: the method itself has to check what it may answer. */
export function openMethod<S extends Schema>(definition: Definition<S, Call>): Method {
	return {
		audience: 'anyone',
		limited: 'requests',
		schema: definition.arguments,
		ignored: new Set(definition.ignored),
		call: async (raw, _caller, call) => definition.run(parseArguments(definition.arguments, raw), call),
	};
}

export function adminMethod<S extends Schema>(definition: Definition<S, Call>): Method {
	const ignored = new Set(definition.ignored);
	return {
		audience: 'admin',
		limited: definition.limited ?? 'requests',
		schema: definition.arguments,
		ignored,
		call: async (raw, caller, call) => {
			if (caller.kind !== 'admin')
				throw new Rejection('not_allowed_token_type', 'token: this method needs the administrator’s token');
			checkNames(definition.arguments, ignored, raw);
			return definition.run(parseArguments(definition.arguments, raw), call);
		},
	};
}

/** Wall-clock time in microseconds. Stamps of the log may be ahead of it. */
export const wallMicros = (): number => Date.now() * 1000;

import { Refusal } from '../../model/errors.ts';
import type { AppCaller, Caller, UserCaller } from '../auth/caller.ts';
import type { Limited } from '../limits.ts';
import type { Services } from '../services.ts';
import { checkNames, parseArguments, type Schema, type Values } from './arguments.ts';
import type { RawArguments } from './body.ts';
import type { Answer } from './envelope.ts';

/**
 * A method: what it takes and what it does. Made with `userMethod` or `adminMethod`, which tie the types of
 * the arguments to its schema and keep out callers of the other kind.
 */

export interface Method {
	/** Who may call it: `anyone` needs no token. */
	readonly audience: 'user' | 'admin' | 'app' | 'anyone';
	/** The limit that a call counts against. */
	readonly limited: Limited;
	readonly schema: Schema;
	/** Arguments of Slack's that clients send and that have no effect here; docs/methods.md names them. */
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

/** Rows that a call of the cost of 1 may ask for. */
const ROWS_A_CALL = 100;
export const costOfRows = (rows: number): number => Math.max(1, Math.ceil(rows / ROWS_A_CALL));

interface Definition<S extends Schema, C> {
	readonly arguments: S;
	readonly ignored?: readonly string[];
	readonly limited?: Limited;
	/** As how many calls one with these arguments counts; 1 unless said. Everything beyond 1 is taken when they are known. */
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
			if (caller.kind !== 'user') throw new Refusal('not_allowed_token_type', 'token: a user’s is needed');
			const args = parseArguments(definition.arguments, raw);
			const more = (definition.cost?.(args) ?? 1) - 1;
			const wait =
				more > 0 ? call.services.limits.takeMore(caller.user.id, definition.limited ?? 'requests', more) : 0;
			if (wait > 0) throw new Refusal('ratelimited', 'this call counts as several requests', wait);
			return definition.run(args, { ...call, caller });
		},
	};
}

export interface AppCall extends Call {
	readonly caller: AppCaller;
}

/** For apps, by an app-level token. */
export function appMethod<S extends Schema>(definition: Definition<S, AppCall>): Method {
	return {
		audience: 'app',
		limited: definition.limited ?? 'requests',
		schema: definition.arguments,
		ignored: new Set(definition.ignored),
		call: async (raw, caller, call) => {
			if (caller.kind !== 'app')
				throw new Refusal('not_allowed_token_type', 'token: an app-level token (xapp-…) is needed');
			return definition.run(parseArguments(definition.arguments, raw), { ...call, caller });
		},
	};
}

/** For callers without a token. Nothing is known about them: such a method checks by itself what it may answer. */
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
				throw new Refusal('not_allowed_token_type', 'token: the administrator’s is needed');
			checkNames(definition.arguments, ignored, raw);
			return definition.run(parseArguments(definition.arguments, raw), call);
		},
	};
}

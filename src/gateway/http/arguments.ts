import { type ErrorCode, Rejection } from '../../model/errors.ts';
import type { RawArguments } from './body.ts';

/**
 * The arguments of a method as a schema. Parsing returns an object typed by the schema, or throws an error that names the
 * argument. Slack's methods ignore unknown arguments, because clients send some. Methods for administrators are Tidemark's own and
 * reject them: a misspelt `expires_in` must not create a token that never expires.
 */

export interface Argument<T> {
	/** Describes a valid value, for error texts. */
	readonly expects: string;
	readonly required: boolean;
	/** Error code for an invalid value. */
	readonly bad: ErrorCode;
	/** Error code if a required argument is missing. */
	readonly missing: ErrorCode;
	/** Whether an empty text is a value rather than a missing argument. */
	readonly takesEmpty: boolean;
	/** Returns undefined for an invalid value, or throws a Rejection with a more precise text. */
	readonly parse: (value: unknown, name: string) => T | undefined;
	readonly whenAbsent: T | undefined;
}

export type Schema = { readonly [name: string]: Argument<unknown> };

export type Values<S extends Schema> = {
	readonly [Name in keyof S]: S[Name] extends Argument<infer T> ? T : never;
};

interface Settings<T> {
	readonly expects: string;
	readonly bad?: ErrorCode;
	readonly missing?: ErrorCode;
	readonly takesEmpty?: boolean;
	readonly parse: (value: unknown, name: string) => T | undefined;
}

export const required = <T>(settings: Settings<T>): Argument<T> => ({
	expects: settings.expects,
	required: true,
	bad: settings.bad ?? 'invalid_arguments',
	missing: settings.missing ?? 'missing_argument',
	takesEmpty: settings.takesEmpty ?? false,
	parse: settings.parse,
	whenAbsent: undefined,
});

export const optional = <T>(argument: Argument<T>): Argument<T | undefined> => ({
	...argument,
	required: false,
});

export const withDefault = <T>(argument: Argument<T>, value: T): Argument<T> => ({
	...argument,
	required: false,
	whenAbsent: value,
});

/** Clients may send these with every method: `server.ts` and `receive-call.ts` use `pretty` and `token`; `team_id` has no effect. */
const ACCEPTED_EVERYWHERE: ReadonlySet<string> = new Set(['token', 'team_id', 'pretty']);

/** Rejects arguments that the method does not have. */
export function checkNames(schema: Schema, ignored: ReadonlySet<string>, raw: RawArguments): void {
	for (const name of raw.keys()) {
		const known =
			Object.hasOwn(schema, name) ||
			ignored.has(name) ||
			ACCEPTED_EVERYWHERE.has(name) ||
			// Slack's own clients add these.
			name.startsWith('_x_');
		if (!known)
			throw new Rejection('invalid_arg_name', `${printable(name)}: this method has no such argument`);
	}
}

export function parseArguments<S extends Schema>(schema: S, raw: RawArguments): Values<S> {
	const values: Record<string, unknown> = {};
	for (const name in schema) values[name] = parseOne(name, schema[name] as Argument<unknown>, raw.get(name));
	// The loop parsed every name as the mapped type declares it.
	return values as Values<S>;
}

function parseOne(name: string, argument: Argument<unknown>, value: unknown): unknown {
	if (value === undefined || value === null || (value === '' && !argument.takesEmpty)) {
		if (argument.required) throw new Rejection(argument.missing, `${name}: required, ${argument.expects}`);
		return argument.whenAbsent;
	}
	const parsed = argument.parse(value, name);
	if (parsed === undefined) throw new Rejection(argument.bad, `${name}: expected ${argument.expects}`);
	return parsed;
}

const printable = (name: string): string => name.slice(0, 80).replace(/[^\w.-]/g, '?');

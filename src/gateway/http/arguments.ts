import { type ErrorCode, Refusal } from '../../model/errors.ts';
import type { RawArguments } from './body.ts';

/**
 * What a method takes: a schema of typed arguments. Parsing gives an object whose types follow from the
 * schema, or a refusal that names the argument. Slack ignores arguments that it does not know, and clients send
 * some; administrators' methods are our own, and refuse them (a misspelt `expires_in` must not make a token for ever).
 */

export interface Argument<T> {
	/** For people: what a value looks like. */
	readonly expects: string;
	readonly required: boolean;
	/** What a value that cannot be read is refused with. */
	readonly bad: ErrorCode;
	/** What its absence is refused with, where it is required. */
	readonly missing: ErrorCode;
	/** An empty text is a value, not an absence. */
	readonly takesEmpty: boolean;
	/** Undefined: it cannot be read. A parser with more to say throws a Refusal itself. */
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

/** Sent along by clients, understood by every method, without effect here. */
const EVERYWHERE: ReadonlySet<string> = new Set(['token', 'team_id', 'pretty']);

/** Refuses arguments that the method does not have. */
export function checkNames(schema: Schema, ignored: ReadonlySet<string>, raw: RawArguments): void {
	for (const name of raw.keys()) {
		const known =
			Object.hasOwn(schema, name) || ignored.has(name) || EVERYWHERE.has(name) || name.startsWith('_x_');
		if (!known) throw new Refusal('invalid_arg_name', `${printable(name)}: not an argument of this method`);
	}
}

export function parseArguments<S extends Schema>(schema: S, raw: RawArguments): Values<S> {
	const values: Record<string, unknown> = {};
	for (const name in schema) values[name] = parseOne(name, schema[name] as Argument<unknown>, raw.get(name));
	// The mapped type says of each name what the loop above did for it.
	return values as Values<S>;
}

function parseOne(name: string, argument: Argument<unknown>, value: unknown): unknown {
	if (value === undefined || value === null || (value === '' && !argument.takesEmpty)) {
		if (argument.required) throw new Refusal(argument.missing, `${name}: required, ${argument.expects}`);
		return argument.whenAbsent;
	}
	const parsed = argument.parse(value, name);
	if (parsed === undefined) throw new Refusal(argument.bad, `${name}: expected ${argument.expects}`);
	return parsed;
}

const printable = (name: string): string => name.slice(0, 80).replace(/[^\w.-]/g, '?');

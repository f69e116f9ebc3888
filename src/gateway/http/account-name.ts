import { Rejection } from '../../model/errors.ts';
import { type Argument, required } from './arguments.ts';

/** Names of users and workspaces, and the handle derived from a name. */

export const NAME_LENGTH = 80;
const CONTROL_CHARACTER = /\p{Cc}/u;

export const accountName: Argument<string> = required<string>({
	expects: `a name of up to ${NAME_LENGTH} characters`,
	parse: (value) => {
		const trimmed = typeof value === 'string' ? value.toWellFormed().trim() : '';
		const fits = trimmed !== '' && trimmed.length <= NAME_LENGTH && !CONTROL_CHARACTER.test(trimmed);
		return fits ? trimmed : undefined;
	},
});

/** The handle for a full name: `Mia Berg` becomes `mia.berg`. Letters of any script stay. */
const handleOf = (realName: string): string =>
	realName
		.toLowerCase()
		.replace(/[\s,]+/gu, '.')
		.replace(/[@#<>&:`*~|/\\]/gu, '')
		.replace(/^\.+|\.+$/gu, '')
		.slice(0, NAME_LENGTH - 3) || 'member';

/** Number of names to try if the name is derived from the full name: `mia`, then `mia2` to `mia9`. */
const MAX_TRIES = 9;

/** The names to try for a new user, in order: the given one, or those derived from the full name. */
export function namesToTry(name: string | undefined, realName: string | undefined): readonly string[] {
	if (name !== undefined) return [name];
	if (realName === undefined) throw new Rejection('missing_argument', 'real_name: required');
	const handle = handleOf(realName);
	return [handle, ...Array.from({ length: MAX_TRIES - 1 }, (_, index) => `${handle}${index + 2}`)];
}

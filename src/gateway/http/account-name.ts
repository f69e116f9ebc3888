import { type Argument, required } from './arguments.ts';

/** Names of users and workspaces. */

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

/** What somebody called so may be addressed by: `Mia Berg` is `mia.berg`. Names of any script stay what they are. */
export const handleOf = (realName: string): string =>
	realName
		.toLowerCase()
		.replace(/[\s,]+/gu, '.')
		.replace(/[@#<>&:`*~|/\\]/gu, '')
		.replace(/^\.+|\.+$/gu, '')
		.slice(0, NAME_LENGTH - 3) || 'member';

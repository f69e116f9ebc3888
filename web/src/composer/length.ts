import { plural } from '../ui/format.ts';

/** The maximum length of a message, and the warning shortly before a text reaches it. */

export const MAX_CHARACTERS = 40_000;
const WARN_FROM = MAX_CHARACTERS - 1_000;

export function lengthWarning(text: string): string | null {
	if (text.length < WARN_FROM) return null;
	const left = MAX_CHARACTERS - text.length;
	if (left >= 0) return `${plural(left, 'character')} left.`;
	return `${plural(-left, 'character')} too long. The limit is ${MAX_CHARACTERS.toLocaleString()}: shorten the message or send it in parts.`;
}

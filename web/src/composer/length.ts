/** The maximum length of a message, and the warning before it is reached. */

export const MAX_CHARACTERS = 40_000;
const REMARKED_FROM = MAX_CHARACTERS - 1_000;

export function remarkOn(text: string): string | null {
	if (text.length < REMARKED_FROM) return null;
	const left = MAX_CHARACTERS - text.length;
	if (left >= 0) return `${left.toLocaleString()} characters left.`;
	return `${(-left).toLocaleString()} characters too long: ${MAX_CHARACTERS.toLocaleString()} fit. Shorten it or send it in parts.`;
}

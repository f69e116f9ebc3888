/** How long a message may be, and what is said before it is too long. */

export const MOST_CHARACTERS = 40_000;
const REMARKED_FROM = MOST_CHARACTERS - 1_000;

export function remarkOn(text: string): string | null {
	if (text.length < REMARKED_FROM) return null;
	const left = MOST_CHARACTERS - text.length;
	if (left >= 0) return `${left.toLocaleString()} characters left.`;
	return `${(-left).toLocaleString()} characters too long: ${MOST_CHARACTERS.toLocaleString()} fit. Shorten it or send it in parts.`;
}

/** Turns typed text into a channel name, and checks the name by the server's rules. */

const MAX_LENGTH = 80;
const ALLOWED = /^[\p{Ll}\p{Lo}\p{N}_-]+$/u;
const ONLY_PUNCTUATION = /^[_-]+$/;

export const channelNameFrom = (written: string): string =>
	written.trim().toLowerCase().replace(/^#/, '').replace(/\s+/g, '-');

/** The error code that the server would return; null if the name is valid. */
export function nameProblem(name: string): string | null {
	if (name === '') return 'invalid_name_required';
	if (name.length > MAX_LENGTH) return 'invalid_name_maxlength';
	if (ONLY_PUNCTUATION.test(name)) return 'invalid_name_punctuation';
	return ALLOWED.test(name) ? null : 'invalid_name_specials';
}

/** Turns typed text into a valid channel name as far as possible, and finds what is still wrong with it. */

const MAX_LENGTH = 80;
const ALLOWED = /^[\p{Ll}\p{Lo}\p{N}_-]+$/u;
const ONLY_PUNCTUATION = /^[_-]+$/;

export const channelNameFrom = (written: string): string =>
	written.trim().toLowerCase().replace(/^#/, '').replace(/\s+/g, '-');

/** The error that the server would return, by the server's rules. Null: the name is valid. */
export function nameProblem(name: string): string | null {
	if (name === '') return 'invalid_name_required';
	if (name.length > MAX_LENGTH) return 'invalid_name_maxlength';
	if (ONLY_PUNCTUATION.test(name)) return 'invalid_name_punctuation';
	return ALLOWED.test(name) ? null : 'invalid_name_specials';
}

/** What is written as the name of a channel, made into one as far as possible, and what is wrong with it then. */

const MAX_LENGTH = 80;
const ALLOWED = /^[\p{Ll}\p{Lo}\p{N}_-]+$/u;
const ONLY_PUNCTUATION = /^[_-]+$/;

export const channelNameFrom = (written: string): string =>
	written.trim().toLowerCase().replace(/^#/, '').replace(/\s+/g, '-');

/** One of the server's errors, before it is asked: the rules are its own. Null: it may be called that. */
export function nameProblem(name: string): string | null {
	if (name === '') return 'invalid_name_required';
	if (name.length > MAX_LENGTH) return 'invalid_name_maxlength';
	if (ONLY_PUNCTUATION.test(name)) return 'invalid_name_punctuation';
	return ALLOWED.test(name) ? null : 'invalid_name_specials';
}

import type { ErrorCode } from './errors.ts';

/** Channel names: lower case letters (of any script), digits, hyphens and underscores; up to 80 characters. */

const MAX_NAME_LENGTH = 80;
const ALLOWED = /^[\p{Ll}\p{Lo}\p{N}_-]+$/u;
const ONLY_PUNCTUATION = /^[_-]+$/;

export function checkChannelName(name: string): ErrorCode | undefined {
	if (name.length === 0) return 'invalid_name_required';
	if (name.length > MAX_NAME_LENGTH) return 'invalid_name_maxlength';
	if (ONLY_PUNCTUATION.test(name)) return 'invalid_name_punctuation';
	if (!ALLOWED.test(name)) return 'invalid_name_specials';
	return undefined;
}

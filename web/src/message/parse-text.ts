import { emojiNamed } from './emoji.ts';

/**
 * Parses Slack's markup into plain data to render. Nothing is interpreted as HTML, and only http and https addresses become
 * links.
 */

export type Piece =
	| { readonly kind: 'text'; readonly text: string }
	| { readonly kind: 'code' | 'block'; readonly text: string }
	| { readonly kind: 'user'; readonly id: string }
	| { readonly kind: 'everyone'; readonly text: string }
	| { readonly kind: 'channel'; readonly id: string; readonly text: string }
	| { readonly kind: 'link'; readonly href: string; readonly text: string }
	| { readonly kind: 'bold' | 'italic' | 'strike'; readonly pieces: readonly Piece[] };

/** As in Slack, these three characters are escaped as entities. */
export const unescapeText = (text: string): string =>
	text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
export const escapeText = (text: string): string =>
	text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The address if it is http or https; null otherwise. */
export const webAddress = (address: unknown): string | null =>
	typeof address === 'string' && /^https?:\/\/[^\s<>]+$/i.test(address) ? address : null;

const EMOJI = '(?<![\\w:])((?::[a-z0-9_+-]+:)+)(?![\\w:])';

const PATTERN = new RegExp(
	[
		'```\\n?([\\s\\S]*?)```',
		'`([^`\\n]+)`',
		'<@([UW][A-Z0-9]+)(?:\\|[^<>]*)?>',
		'<!(channel|here|everyone)(?:\\|[^<>]*)?>',
		'<#([A-Z0-9]+)(?:\\|([^<>]*))?>',
		'<(https?:\\/\\/[^|<>\\s]+)(?:\\|([^<>]*))?>',
		'(https?:\\/\\/[^\\s<>]*[^\\s<>.,;:!?)\\]\'"])',
		'(?<![\\w*])\\*(\\S(?:[^*\\n]*\\S)?)\\*(?![\\w*])',
		'(?<![\\w_])_(\\S(?:[^_\\n]*\\S)?)_(?![\\w_])',
		'(?<![\\w~])~(\\S(?:[^~\\n]*\\S)?)~(?![\\w~])',
		EMOJI,
	].join('|'),
	'g',
);

export function parseText(text: string): readonly Piece[] {
	const pieces: Piece[] = [];
	let end = 0;
	for (const match of text.matchAll(PATTERN)) {
		if (match.index > end) pieces.push({ kind: 'text', text: unescapeText(text.slice(end, match.index)) });
		pieces.push(pieceOf(match));
		end = match.index + match[0].length;
	}
	if (end < text.length) pieces.push({ kind: 'text', text: unescapeText(text.slice(end)) });
	return pieces;
}

function pieceOf(match: RegExpExecArray): Piece {
	const [
		,
		block,
		code,
		user,
		everyone,
		channel,
		channelName,
		href,
		label,
		bare,
		bold,
		italic,
		strike,
		emoji,
	] = match;
	if (block !== undefined) return { kind: 'block', text: unescapeText(block.replace(/\n$/, '')) };
	if (code !== undefined) return { kind: 'code', text: unescapeText(code) };
	if (user !== undefined) return { kind: 'user', id: user };
	if (everyone !== undefined) return { kind: 'everyone', text: `@${everyone}` };
	if (channel !== undefined) return { kind: 'channel', id: channel, text: channelName ?? '' };
	if (href !== undefined) return linkTo(href, label ?? href);
	if (bare !== undefined) return linkTo(bare, bare);
	if (bold !== undefined) return { kind: 'bold', pieces: parseText(bold) };
	if (italic !== undefined) return { kind: 'italic', pieces: parseText(italic) };
	if (strike !== undefined) return { kind: 'strike', pieces: parseText(strike) };
	return { kind: 'text', text: withEmoji(emoji ?? '') };
}

/** Replaces the names of emoji in a text without other markup. */
export const emojiIn = (text: string): string => text.replace(new RegExp(EMOJI, 'g'), withEmoji);

/** Replaces one name, or several in a row. */
const withEmoji = (text: string): string =>
	text.replace(/:([^:]+):/g, (whole, name: string) => emojiNamed(name) ?? whole);

const linkTo = (href: string, text: string): Piece => ({
	kind: 'link',
	href: unescapeText(href),
	text: unescapeText(text),
});

/**
 * Parses a search query: words, "phrases in quotes", -excluded words, and the modifiers from:, in:, before:, after:, on: and
 * has:. Pure: the caller looks up users and channels by name.
 */

export interface SearchTerm {
	/** One word, or a phrase. */
	readonly text: string;
	/** `harb*`: any word that begins with `harb`. */
	readonly isPrefix: boolean;
	readonly isExcluded: boolean;
}

export const HAS = ['link', 'reaction', 'pin', 'file'] as const;
export type Has = (typeof HAS)[number];

export interface SearchQuery {
	readonly terms: readonly SearchTerm[];
	/** As written: `me`, `@name`, `name`, an id, `<@U…>`. */
	readonly from: readonly string[];
	/** As written: `#name`, `name`, `@name`, an id, `<#C…|name>`. */
	readonly in: readonly string[];
	/** Exclusive bounds in microseconds. */
	readonly after: number;
	readonly before: number;
	readonly has: readonly Has[];
}

/** More than anybody needs; each term costs a walk through the index. */
export const MAX_TERMS = 16;
const MAX_NAMES = 8;
const DAY_MICROS = 86_400_000_000;

const TOKEN = /(-?)(?:"([^"]*)"?|([a-z]+):("[^"]*"|\S+)|(\S+))/gi;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Midnight, UTC, of a date such as 2024-06-01; undefined for anything else. */
export function dayOf(text: string): number | undefined {
	const found = DATE.exec(text);
	if (!found) return undefined;
	const ms = Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3]));
	return new Date(ms).toISOString().startsWith(text) ? ms * 1000 : undefined;
}

export function parseSearch(text: string, nowMicros: number): SearchQuery {
	const terms: SearchTerm[] = [];
	const from: string[] = [];
	const places: string[] = [];
	const has: Has[] = [];
	let after = 0;
	let before = Number.MAX_SAFE_INTEGER;
	const today = Math.floor(nowMicros / DAY_MICROS) * DAY_MICROS;
	const day = (word: string): number | undefined =>
		word === 'today' ? today : word === 'yesterday' ? today - DAY_MICROS : dayOf(word);
	/** Returns false if the modifier or its value is unknown; its text then counts as search words. */
	const modifier = (name: string, value: string): boolean => {
		const dayStart = day(value);
		if (name === 'from') from.push(value);
		else if (name === 'in') places.push(value);
		else if (name === 'has') {
			const known = HAS.find((one) => value === one || value === `${one}s`);
			if (known === undefined) return false;
			has.push(known);
		} else if (dayStart === undefined) return false;
		else if (name === 'before') before = Math.min(before, dayStart);
		else if (name === 'after') after = Math.max(after, dayStart + DAY_MICROS - 1);
		else if (name === 'on') {
			after = Math.max(after, dayStart - 1);
			before = Math.min(before, dayStart + DAY_MICROS);
		} else return false;
		return true;
	};
	for (const [whole, minus, quoted, name, value, word] of text.matchAll(TOKEN)) {
		if (name !== undefined && minus === '' && modifier(name.toLowerCase(), unquoted(value ?? ''))) continue;
		const plain = quoted ?? word ?? (minus === '' ? whole : whole.slice(1));
		const isPrefix = quoted === undefined && plain.length > 1 && plain.endsWith('*');
		const term = isPrefix ? plain.slice(0, -1) : plain;
		if (!/[\p{L}\p{N}]/u.test(term)) continue;
		terms.push({ text: term, isPrefix, isExcluded: minus === '-' });
	}
	return {
		terms: terms.slice(0, MAX_TERMS),
		from: from.slice(0, MAX_NAMES),
		in: places.slice(0, MAX_NAMES),
		after,
		before,
		has,
	};
}

const unquoted = (value: string): string => value.replace(/^"|"$/g, '');

import type { Words } from './words.ts';

/** The parts of a message beyond plain text, from top to bottom. */

export interface Field {
	readonly title: Words;
	readonly words: Words;
	/** The field may share a line with the next one. */
	readonly isShort: boolean;
}

export type Part =
	| { readonly kind: 'header' | 'words' | 'quote'; readonly words: Words }
	| { readonly kind: 'context' | 'controls'; readonly items: readonly Words[] }
	| { readonly kind: 'fields'; readonly fields: readonly Field[] }
	| {
			readonly kind: 'list';
			readonly items: readonly Words[];
			/** The number of the first item; null for bullets. */
			readonly from: number | null;
			readonly indent: number;
	  }
	| { readonly kind: 'divider' | 'unknown' };

export const UNKNOWN = '(this part cannot be shown here)';

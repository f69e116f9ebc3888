import type { Words } from './words.ts';

/** What stands in a message that is more than text: parts, one under the other. */

export interface Field {
	readonly title: Words;
	readonly words: Words;
	/** It may have another one beside it. */
	readonly isShort: boolean;
}

export type Part =
	| { readonly kind: 'header' | 'words' | 'quote'; readonly words: Words }
	| { readonly kind: 'context' | 'controls'; readonly items: readonly Words[] }
	| { readonly kind: 'fields'; readonly fields: readonly Field[] }
	| {
			readonly kind: 'list';
			readonly items: readonly Words[];
			/** The number of its first item; null for dots. */
			readonly from: number | null;
			readonly indent: number;
	  }
	| { readonly kind: 'divider' | 'unknown' };

export const UNKNOWN = '(this part cannot be shown here)';

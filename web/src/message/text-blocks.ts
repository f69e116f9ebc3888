/**
 * Splits the lines of a text into paragraphs, quotes (`> …`) and lists (`- …`, `1. …`). Code between three backticks stays with
 * its paragraph. Pure.
 */

export type TextBlock =
	| { readonly kind: 'words'; readonly text: string }
	| { readonly kind: 'quote'; readonly text: string }
	| {
			readonly kind: 'list';
			readonly items: readonly string[];
			/** The number of the first item; null for bullets. */
			readonly from: number | null;
	  };

const QUOTED = /^(?:&gt;|>) ?(.*)$/;
const BULLET = /^[•*-] +(\S.*)$/;
const NUMBERED = /^(\d{1,4})[.)] +(\S.*)$/;
const FENCE = /```/g;

interface Line {
	readonly kind: 'words' | 'quote' | 'bullet' | 'numbered';
	readonly text: string;
	readonly number: number;
}

function lineOf(line: string): Line {
	const quoted = QUOTED.exec(line);
	if (quoted) return { kind: 'quote', text: quoted[1] ?? '', number: 0 };
	const bullet = BULLET.exec(line);
	if (bullet) return { kind: 'bullet', text: bullet[1] ?? '', number: 0 };
	const numbered = NUMBERED.exec(line);
	if (numbered) return { kind: 'numbered', text: numbered[2] ?? '', number: Number(numbered[1]) };
	return { kind: 'words', text: line, number: 0 };
}

export function textBlocks(text: string): readonly TextBlock[] {
	const groups: Line[][] = [];
	let isCode = false;
	for (const raw of text.split('\n')) {
		const line: Line = isCode ? { kind: 'words', text: raw, number: 0 } : lineOf(raw);
		if (line.kind === 'words' && (raw.match(FENCE)?.length ?? 0) % 2 === 1) isCode = !isCode;
		const group = groups.at(-1);
		if (group?.[0]?.kind === line.kind) group.push(line);
		else groups.push([line]);
	}
	return groups.map(blockOf).filter((block) => block.kind !== 'words' || block.text.trim() !== '');
}

function blockOf(lines: readonly Line[]): TextBlock {
	const [first] = lines;
	const texts = lines.map(({ text }) => text);
	if (first?.kind === 'bullet') return { kind: 'list', items: texts, from: null };
	if (first?.kind === 'numbered') return { kind: 'list', items: texts, from: first.number };
	return first?.kind === 'quote'
		? { kind: 'quote', text: texts.join('\n') }
		: { kind: 'words', text: texts.join('\n') };
}

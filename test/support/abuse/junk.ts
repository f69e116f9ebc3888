import type { Random } from '../oracle/random.ts';

/**
 * Values that no client sends: of any type, size and spelling. They are JSON texts, because JSON.stringify would repair
 * some of them.
 */

const TEXTS = [
	...['', ' ', '\u0000', '\r\nX-Injected: 1', '\ud800', '\udfff\ud800', '\u202e', '\ufeff', '💥'.repeat(50)],
	...['__proto__', 'constructor', 'toString', 'null', 'undefined', 'NaN', 'true', '0', '-1', '1e309', '0x10'],
	...[
		"' OR 1=1 --",
		'"; DROP TABLE messages; --',
		'%00',
		'%',
		'%zz',
		'../../etc/passwd',

		'<script>',
	],
	...[
		'<!channel>',
		'<@U0>',
		'<@',
		'<@U12345678|',
		'&lt',
		'['.repeat(3_000),
		'{"a":'.repeat(80),
		'[[[]]',
		'{}',
	],
	...['1700000000.000000', '1700000000.0000001', '9999999999.999999', '-1.0', '.', '1.', 'Infinity'],
	...['C', 'C0', 'C00000000', 'D00000000', 'U00000000', 'T00000000', 'all', 'public_channel', 'im,mpim,x'],
];
const NUMBERS = [
	'0',
	'-0',
	'-1',
	'1',
	'1.5',
	'1e308',
	'1e400',
	'9007199254740993',
	'-9007199254740993',
	'1e-400',
];

export const junkText = (random: Random): string => {
	switch (random.below(5)) {
		case 0:
			return 'x'.repeat(random.below(6_000));
		case 1:
			return Array.from({ length: random.below(40) }, () => String.fromCharCode(random.below(0xffff))).join(
				'',
			);
		default:
			return random.pick(TEXTS) ?? '';
	}
};

/** As a JSON text. */
export function junkJson(random: Random, depth = 0): string {
	switch (random.below(depth > 3 ? 5 : 8)) {
		case 0:
			return random.pick(['null', 'true', 'false']) ?? 'null';
		case 1:
			return random.pick(NUMBERS) ?? '0';
		case 5: {
			const items = Array.from({ length: random.below(5) }, () => junkJson(random, depth + 1));
			return `[${items.join(',')}]`;
		}
		case 6: {
			const fields = Array.from(
				{ length: random.below(5) },
				() => `${JSON.stringify(junkText(random).slice(0, 50))}:${junkJson(random, depth + 1)}`,
			);
			return `{${fields.join(',')}}`;
		}
		case 7: {
			const levels = random.below(200);
			return `${'['.repeat(levels)}${']'.repeat(levels)}` || '[]';
		}
		default:
			return JSON.stringify(junkText(random));
	}
}

export const junkBytes = (random: Random, length: number): Uint8Array<ArrayBuffer> =>
	Uint8Array.from({ length }, () => random.below(256));

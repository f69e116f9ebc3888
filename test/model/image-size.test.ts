import { expect, test } from 'bun:test';
import { isShownInline } from '../../src/model/file-types.ts';
import { imageSize } from '../../src/model/image-size.ts';

/** The size of a picture from its first bytes, and which files a browser may show inline. */

const bytes = (hex: string): Uint8Array => Uint8Array.fromHex(hex.replaceAll(' ', ''));

test.each([
	['PNG', '89504e470d0a1a0a 0000000d 49484452 00000280 000001e0', { width: 640, height: 480 }],
	['GIF', '474946383961 8002 e001', { width: 640, height: 480 }],
	['JPEG', 'ffd8 ffe00004 0000 ffc0 0011 08 01e0 0280 03', { width: 640, height: 480 }],
	[
		'WebP (VP8X)',
		'52494646 00000000 57454250 56503858 0a000000 00000000 7f0200 df0100',
		{ width: 640, height: 480 },
	],
] as const)('%s', (_, hex, size) => expect(imageSize(bytes(hex))).toEqual(size));

test.each([
	['nothing', ''],
	['text', '68656c6c6f2c20776f726c6421'],
	['a PNG that ends in its header', '89504e470d0a1a0a 0000000d 49484452 0000'],
	['a PNG without width', '89504e470d0a1a0a 0000000d 49484452 00000000 000001e0'],
	['a JPEG without a frame', 'ffd8 ffe00004 0000 ffda 0000'],
] as const)('%s has no size', (_, hex) => expect(imageSize(bytes(hex))).toBeNull());

test('a file that could run scripts is never shown inline', () => {
	expect(
		['image/png', 'image/svg+xml', 'text/html', 'text/javascript', 'application/xml'].map(isShownInline),
	).toEqual([true, false, false, false, false]);
});

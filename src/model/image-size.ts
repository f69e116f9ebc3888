/** Reads the size of a picture from the first bytes of its file, so that a client can reserve space before loading it. */

export interface ImageSize {
	readonly width: number;
	readonly height: number;
}

/** Enough for the headers of almost every picture. */
export const IMAGE_HEAD_BYTES = 64 * 1024;

/** Null: not a PNG, GIF, JPEG or WebP, or the size is beyond these bytes. */
export function imageSize(head: Uint8Array): ImageSize | null {
	const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
	try {
		return sized(png(view) ?? gif(view) ?? webp(view) ?? jpeg(view));
	} catch {
		// The header is truncated.
		return null;
	}
}

const sized = (size: ImageSize | null): ImageSize | null =>
	size && size.width > 0 && size.height > 0 ? size : null;

const PNG = 0x89504e47;
const png = (view: DataView): ImageSize | null =>
	view.getUint32(0) === PNG ? { width: view.getUint32(16), height: view.getUint32(20) } : null;

const GIF = 0x47494638;
const gif = (view: DataView): ImageSize | null =>
	view.getUint32(0) === GIF ? { width: view.getUint16(6, true), height: view.getUint16(8, true) } : null;

const RIFF = 0x52494646;
const WEBP = 0x57454250;
function webp(view: DataView): ImageSize | null {
	if (view.getUint32(0) !== RIFF || view.getUint32(8) !== WEBP) return null;
	const bits24 = (at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
	switch (view.getUint8(15)) {
		// "VP8X", "VP8L" and "VP8 " by their last letter.
		case 0x58:
			return { width: bits24(24) + 1, height: bits24(27) + 1 };
		case 0x4c: {
			const bits = view.getUint32(21, true);
			return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
		}
		default:
			return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
	}
}

const JPEG = 0xffd8;
function jpeg(view: DataView): ImageSize | null {
	if (view.getUint16(0) !== JPEG) return null;
	for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
		const marker = view.getUint16(at);
		if (marker < 0xffc0 || marker === 0xffda) return null;
		const isFrame = marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
		if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
	}
}

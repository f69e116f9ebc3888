import { imageSize } from './image-size.ts';

/** Profile photos: small, and only of types that browsers render without running code. */

export const MAX_PHOTO_BYTES = 512 * 1024;
export const MAX_PHOTO_PIXELS = 1024;

const TYPES = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' } as const;
export type PhotoType = keyof typeof TYPES;

export const mimetypeOf = (type: PhotoType): string => TYPES[type];

const SIGNATURES: readonly (readonly [PhotoType, readonly number[]])[] = [
	['png', [0x89, 0x50, 0x4e, 0x47]],
	['jpg', [0xff, 0xd8]],
	['gif', [0x47, 0x49, 0x46, 0x38]],
	['webp', [0x52, 0x49, 0x46, 0x46]],
];

/** Detects the type from the bytes and ignores the file name. Null: not an accepted picture. */
export function photoTypeOf(bytes: Uint8Array): PhotoType | null {
	const size = imageSize(bytes);
	if (!size || Math.max(size.width, size.height) > MAX_PHOTO_PIXELS) return null;
	return SIGNATURES.find(([, signature]) => signature.every((byte, at) => bytes[at] === byte))?.[0] ?? null;
}

/** `FAB12CD34EF.png`, stored in the profile and used in the photo's URL; its id cannot be guessed. */
export const PHOTO_NAME = /^(F[A-Z0-9]{10,20})\.(png|jpg|gif|webp)$/;

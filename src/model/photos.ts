import { imageSize } from './image-size.ts';

/** Pictures that users have of themselves: small, and of types that a browser only draws. */

export const MOST_PHOTO_BYTES = 512 * 1024;
export const MOST_PHOTO_PIXELS = 1024;

const TYPES = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' } as const;
export type PhotoType = keyof typeof TYPES;

export const mimetypeOf = (type: PhotoType): string => TYPES[type];

const BEGINNINGS: readonly (readonly [PhotoType, readonly number[]])[] = [
	['png', [0x89, 0x50, 0x4e, 0x47]],
	['jpg', [0xff, 0xd8]],
	['gif', [0x47, 0x49, 0x46, 0x38]],
	['webp', [0x52, 0x49, 0x46, 0x46]],
];

/** By what the bytes are, whatever they are called. Null: no picture that is taken. */
export function photoTypeOf(bytes: Uint8Array): PhotoType | null {
	const size = imageSize(bytes);
	if (!size || Math.max(size.width, size.height) > MOST_PHOTO_PIXELS) return null;
	return BEGINNINGS.find(([, beginning]) => beginning.every((byte, at) => bytes[at] === byte))?.[0] ?? null;
}

/** `FAB12CD34EF.png`, as it is kept in a profile and at the end of its address: nobody can guess it. */
export const PHOTO_NAME = /^(F[A-Z0-9]{10,20})\.(png|jpg|gif|webp)$/;

import type { SharedFile } from '@tidemark/client';

/** The size of a picture in a conversation. It is known before the picture is loaded, so that nothing moves then. */

const WIDEST = 360;
const HIGHEST = 280;
/** Smaller pictures would be hard to press. */
const SMALLEST = 40;

/** Other pictures are cards to download, because their size is unknown. */
export const isPicture = ({ mimetype, width, height, isDeleted }: SharedFile): boolean =>
	!isDeleted && mimetype.startsWith('image/') && width > 0 && height > 0;

export function drawnSize({ width, height }: Pick<SharedFile, 'width' | 'height'>) {
	const scale = Math.min(1, WIDEST / width, HIGHEST / height);
	return {
		width: Math.max(SMALLEST, Math.round(width * scale)),
		height: Math.max(SMALLEST, Math.round(height * scale)),
	};
}

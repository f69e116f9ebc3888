import type { SharedFile } from '@tidemark/client';

/** The size of a picture in a conversation. It is computed before the picture is loaded, so that nothing moves when it appears. */

const MAX_WIDTH = 360;
const MAX_HEIGHT = 280;
/** Smaller pictures would be hard to tap. */
const MIN_SIDE = 40;

/** Pictures of unknown size are shown as cards to download. */
export const isPicture = ({ mimetype, width, height, isDeleted }: SharedFile): boolean =>
	!isDeleted && mimetype.startsWith('image/') && width > 0 && height > 0;

export function drawnSize({ width, height }: Pick<SharedFile, 'width' | 'height'>) {
	const scale = Math.min(1, MAX_WIDTH / width, MAX_HEIGHT / height);
	return {
		width: Math.max(MIN_SIDE, Math.round(width * scale)),
		height: Math.max(MIN_SIDE, Math.round(height * scale)),
	};
}

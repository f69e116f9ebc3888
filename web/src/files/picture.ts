import type { SharedFile } from '@tidemark/client';

/** How large a picture is drawn in a conversation. It is known before the picture is there: nothing moves when it comes. */

const WIDEST = 360;
const HIGHEST = 280;
/** Less could not be pressed. */
const SMALLEST = 40;

/** Others are a card to download: nobody knows how much room they take. */
export const isPicture = ({ mimetype, width, height, isDeleted }: SharedFile): boolean =>
	!isDeleted && mimetype.startsWith('image/') && width > 0 && height > 0;

export function drawnSize({ width, height }: Pick<SharedFile, 'width' | 'height'>) {
	const scale = Math.min(1, WIDEST / width, HIGHEST / height);
	return {
		width: Math.max(SMALLEST, Math.round(width * scale)),
		height: Math.max(SMALLEST, Math.round(height * scale)),
	};
}

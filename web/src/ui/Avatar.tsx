import type { Presence } from '@tidemark/client';
import { initialsOf } from './format.ts';

/** The picture of a user: a photo, or initials in a colour that depends on the user's id, or the emoji that a bot posts with. */

const HUES = 12;

function hueOf(id: string): number {
	let hash = 0;
	for (const letter of id) hash = (hash * 31 + letter.charCodeAt(0)) % 9973;
	return hash % HUES;
}

export interface AvatarProps {
	readonly id: string;
	readonly name: string;
	/** Shown instead of photo and initials. */
	readonly emoji?: string | undefined;
	/** The address of the photo. */
	readonly photo?: string | null;
	readonly size?: 'small' | 'medium';
	readonly presence?: Presence | undefined;
}

export const Avatar = ({ id, name, emoji, photo, size = 'medium', presence }: AvatarProps) => (
	<span className={`avatar ${size} hue-${hueOf(id)}`} aria-hidden="true">
		{emoji ?? (photo ? <img src={photo} alt="" /> : initialsOf(name) || '·')}
		{presence && <span className={`presence ${presence}`} />}
	</span>
);

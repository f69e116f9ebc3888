import type { Presence } from '@tidemark/client';

/** A photo; without one, initials in a colour that stays the same for the same person. A bot may post with an emoji. */

const HUES = 12;

function hueOf(id: string): number {
	let hash = 0;
	for (const letter of id) hash = (hash * 31 + letter.charCodeAt(0)) % 9973;
	return hash % HUES;
}

const initialsOf = (name: string): string =>
	name
		.split(/[\s._-]+/)
		.map((word) => word.charAt(0).toUpperCase())
		.slice(0, 2)
		.join('');

export interface AvatarProps {
	readonly id: string;
	readonly name: string;
	/** Instead of initials. */
	readonly emoji?: string | undefined;
	/** Its address. */
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

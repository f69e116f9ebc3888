import type { Presence } from '@tidemark/client';

/** There are no pictures of people: initials, in a colour that stays the same for the same person. */

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

interface Props {
	readonly id: string;
	readonly name: string;
	readonly size?: 'small' | 'medium';
	readonly presence?: Presence | undefined;
}

export const Avatar = ({ id, name, size = 'medium', presence }: Props) => (
	<span className={`avatar ${size} hue-${hueOf(id)}`} aria-hidden="true">
		{initialsOf(name) || '·'}
		{presence && <span className={`presence ${presence}`} />}
	</span>
);

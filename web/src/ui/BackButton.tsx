import { go, toScreen } from '../session/route.ts';
import { IconButton } from './IconButton.tsx';

/** Returns to the list of conversations, which is a page of its own on narrow screens. Shown only there. */
export const BackButton = () => (
	<IconButton
		className="only-narrow"
		icon="back"
		label="All conversations"
		onClick={() => go(toScreen('home'))}
	/>
);

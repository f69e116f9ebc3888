import { go, toScreen } from '../session/route.ts';
import { IconButton } from './IconButton.tsx';

/** On narrow screens, where the list of conversations is a page of its own. */
export const BackButton = () => (
	<IconButton
		className="only-narrow"
		icon="back"
		label="All conversations"
		onClick={() => go(toScreen('home'))}
	/>
);

import type { User } from '@tidemark/client';
import { nameOf } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import type { Choice } from '../ui/Chooser.tsx';

/** A person as a choice in a list. */
export const personChoice = (user: User, run: () => void): Choice => ({
	key: user.id,
	icon: <PersonAvatar id={user.id} name={nameOf(user)} size="small" />,
	name: nameOf(user),
	hint: `@${user.name}`,
	run,
});

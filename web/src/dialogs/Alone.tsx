import { useClient, useSelected } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { loadEverybody } from '../session/load-everybody.ts';
import { canBeNamed, useSelf } from '../session/names.ts';

/** Whether the user is the only person in the workspace; false until all users are loaded. */
export function useIsAlone(): boolean {
	const client = useClient();
	const self = useSelf();
	const [isKnown, setKnown] = useState(false);
	useEffect(() => {
		let isCurrent = true;
		void loadEverybody(client).then(() => isCurrent && setKnown(true));
		return () => {
			isCurrent = false;
		};
	}, [client]);
	const hasOthers = useSelected(({ users }) =>
		[...users.values()].some((user) => user.id !== self && canBeNamed(user)),
	);
	return isKnown && !hasOthers;
}

/** Shown instead of an empty list of people: says why it is empty, and how to invite others. */
export const Alone = () => (
	<>
		You are the only person in this workspace. To invite others, open the{' '}
		<a href="/admin">administration page</a>, or ask your administrator for invite links.
	</>
);

import type { Message } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { useEffect, useRef, useState } from 'react';
import { wordsOf } from '../message/content.ts';
import { plainText } from '../message/plain-text.ts';
import { nameOf, useSelf } from '../session/names.ts';

interface Props {
	readonly messages: readonly Message[];
	/** Later messages exist that are not loaded: the user has jumped to an old message. */
	readonly hasNewer: boolean;
}

/** Announces new messages of others to screen readers while the conversation is open. */
export function Announcer({ messages, hasNewer }: Props) {
	const self = useSelf();
	const users = useSelected((snapshot) => snapshot.users);
	const newest = useRef<string | null>(null);
	const [spoken, setSpoken] = useState('');
	const last = messages.findLast(({ status }) => status === 'sent');
	useEffect(() => {
		if (!last || hasNewer) return;
		// Messages that were loaded when the conversation was opened are not announced.
		const isNew = newest.current !== null && last.ts > newest.current && last.user !== self;
		newest.current = last.ts;
		if (isNew)
			setSpoken(
				`${last.username || nameOf(users.get(last.user)) || 'Someone'}: ${plainText(wordsOf(last), users)}`,
			);
	}, [last, hasNewer, self, users]);
	return (
		<div className="only-read-aloud" role="log" aria-live="polite" aria-label="New messages">
			{spoken}
		</div>
	);
}

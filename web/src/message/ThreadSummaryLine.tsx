import type { Message } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { nameOf } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { openThread } from '../session/route.ts';
import { plural, whenOf } from '../ui/format.ts';

const MAX_FACES = 4;

/** Below a root: the number of replies, and a link to the thread. */
export function ThreadSummaryLine({ message }: { readonly message: Message }) {
	const users = useSelected((snapshot) => snapshot.users);
	return (
		<button type="button" className="thread-line" onClick={() => openThread(message.channel, message.ts)}>
			<span className="faces">
				{message.replyUsers.slice(0, MAX_FACES).map((user) => (
					<PersonAvatar key={user} id={user} name={nameOf(users.get(user))} size="small" />
				))}
			</span>
			<strong>{plural(message.replyCount, 'reply', 'replies')}</strong>
			{message.latestReply && <span className="hint">last {whenOf(message.latestReply)}</span>}
		</button>
	);
}

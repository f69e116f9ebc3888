import type { Message } from '@tidemark/client';
import { useSelected } from '@tidemark/client/react';
import { nameOf } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { openThread } from '../session/route.ts';
import { plural, whenOf } from '../ui/format.ts';

const MOST_FACES = 4;

/** Under a root: how many replied, and the way into the thread. */
export function ThreadSummaryLine({ message }: { readonly message: Message }) {
	const users = useSelected((snapshot) => snapshot.users);
	return (
		<button type="button" className="thread-line" onClick={() => openThread(message.channel, message.ts)}>
			<span className="faces">
				{message.replyUsers.slice(0, MOST_FACES).map((user) => (
					<PersonAvatar key={user} id={user} name={nameOf(users.get(user))} size="small" />
				))}
			</span>
			<strong>{plural(message.replyCount, 'reply', 'replies')}</strong>
			{message.latestReply && <span className="hint">last {whenOf(message.latestReply)}</span>}
		</button>
	);
}

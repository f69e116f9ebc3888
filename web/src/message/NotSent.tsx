import type { Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { sayError } from '../ui/states.tsx';

/** A rejected message, with the reason and its actions. */
export function NotSent({ message }: { readonly message: Message }) {
	const conversation = useClient().conversation(message.channel);
	const id = message.clientMsgId ?? '';
	return (
		<p className="not-sent" role="alert">
			Not sent. {sayError(message.error ?? 'network_error')}
			<button type="button" className="link" onClick={() => conversation.retry(id)}>
				Send again
			</button>
			<button type="button" className="link" onClick={() => conversation.discard(id)}>
				Discard
			</button>
		</p>
	);
}

import type { Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { errorText } from '../ui/states.tsx';

/** Below a message whose sending failed: the reason, and buttons to send it again or discard it. */
export function NotSent({ message }: { readonly message: Message }) {
	const conversation = useClient().conversation(message.channel);
	const id = message.clientMsgId ?? '';
	const error = message.error ?? 'network_error';
	return (
		<p className="not-sent" role="alert">
			{error !== 'outcome_unknown' && 'Not sent. '}
			{errorText(error)}
			<button type="button" className="link" onClick={() => conversation.retry(id)}>
				Send again
			</button>
			<button type="button" className="link" onClick={() => conversation.discard(id)}>
				Discard
			</button>
		</p>
	);
}

import { createHash } from 'node:crypto';
import type { MessageKey } from '../../engine/ports/push.ts';
import { formatTs } from '../../model/ts.ts';
import { collapseId, type Notification, type Withdrawal } from '../provider.ts';

/** Payloads for the service worker of the web interface (web/sw). Encrypted, they must fit into 4 KB. */

const MAX_WITHDRAWN = 50;

export const messagePayload = ({ title, body, message, threadTs, badge }: Notification): string =>
	JSON.stringify({
		type: 'message',
		title,
		body,
		tag: collapseId(message),
		channel: message.conversation,
		ts: formatTs(message.ts),
		...(threadTs === null ? {} : { thread_ts: formatTs(threadTs) }),
		badge,
	});

export interface WithdrawalPart {
	readonly payload: string;
	/** Replaces an undelivered message with the same topic at the push service. */
	readonly topic: string | null;
}

/**
 * The withdrawal of a single message uses the message's own topic: at the push service it replaces the notification if that is not
 * delivered yet, so an offline browser later gets only the withdrawal.
 */
export function withdrawalParts({ badge, messages }: Withdrawal): WithdrawalPart[] {
	const parts: WithdrawalPart[] = [];
	for (let start = 0; start === 0 || start < messages.length; start += MAX_WITHDRAWN) {
		const some = messages.slice(start, start + MAX_WITHDRAWN);
		const [only, ...others] = some;
		parts.push({
			payload: JSON.stringify({ type: 'withdrawn', badge, tags: some.map(collapseId) }),
			topic: only && others.length === 0 ? topicOf(only) : null,
		});
	}
	return parts;
}

/**
 * At most 32 characters of base64url are allowed, and a collapse id would be readable for the service: so it is
 * hashed.
 */
export const topicOf = (message: MessageKey): string =>
	createHash('sha256').update(collapseId(message)).digest('base64url').slice(0, 32);

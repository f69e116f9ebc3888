import { createHash } from 'node:crypto';
import type { MessageKey } from '../../engine/ports/push.ts';
import { formatTs } from '../../model/ts.ts';
import { collapseId, type Notification, type Withdrawal } from '../provider.ts';

/** What goes to the service worker of the web interface (web/sw). Encrypted it has to fit into 4 KB. */

const MOST_WITHDRAWN = 50;

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
	/** What it replaces at the push service, where the browser has not fetched it yet. */
	readonly topic: string | null;
}

/** For a single message it uses the message's own topic: a browser that is offline then gets neither. */
export function withdrawalParts({ badge, messages }: Withdrawal): WithdrawalPart[] {
	const parts: WithdrawalPart[] = [];
	for (let start = 0; start === 0 || start < messages.length; start += MOST_WITHDRAWN) {
		const some = messages.slice(start, start + MOST_WITHDRAWN);
		const [only, ...others] = some;
		parts.push({
			payload: JSON.stringify({ type: 'withdrawn', badge, tags: some.map(collapseId) }),
			topic: only && others.length === 0 ? topicOf(only) : null,
		});
	}
	return parts;
}

/** At most 32 characters of base64url are allowed: a collapse id would be too long, and readable for the service. */
export const topicOf = (message: MessageKey): string =>
	createHash('sha256').update(collapseId(message)).digest('base64url').slice(0, 32);

import { formatTs } from '../../model/ts.ts';
import type { Notification, Withdrawal } from '../provider.ts';

/** Payloads for Apple's devices. APNs accepts up to 4 KB. */

const MAX_WITHDRAWN = 60;

export function alertPayload({ title, body, message, threadTs, badge }: Notification): string {
	return JSON.stringify({
		aps: {
			alert: { title, body },
			badge,
			sound: 'default',
			'thread-id': message.conversation,
			'mutable-content': 1,
		},
		channel: message.conversation,
		ts: formatTs(message.ts),
		...(threadTs === null ? {} : { thread_ts: formatTs(threadTs) }),
	});
}

/** The system sets the badge; `content-available` wakes the application, which removes the listed notifications. */
export function withdrawalPayloads({ badge, messages }: Withdrawal): string[] {
	const payloads: string[] = [];
	for (let start = 0; start === 0 || start < messages.length; start += MAX_WITHDRAWN) {
		const withdrawn = messages
			.slice(start, start + MAX_WITHDRAWN)
			.map(({ conversation, ts }) => ({ channel: conversation, ts: formatTs(ts) }));
		payloads.push(JSON.stringify({ aps: { 'content-available': 1, badge }, withdrawn }));
	}
	return payloads;
}

import { formatTs } from '../../model/ts.ts';
import { collapseId, type Notification, type Withdrawal } from '../provider.ts';

/** What goes to FCM: one message for Android and for browsers. Data holds texts alone. */

const TTL_S = 24 * 60 * 60;
const MOST_WITHDRAWN = 50;

export function notificationMessage(token: string, { title, body, message, threadTs, badge }: Notification) {
	const tag = collapseId(message);
	return {
		token,
		notification: { title, body },
		data: {
			type: 'message',
			channel: message.conversation,
			ts: formatTs(message.ts),
			...(threadTs === null ? {} : { thread_ts: formatTs(threadTs) }),
			badge: String(badge),
		},
		android: {
			priority: 'HIGH',
			ttl: `${TTL_S}s`,
			// Shown under this tag: a second one replaces the first, and the application removes it by it.
			notification: { tag, notification_count: badge },
		},
		webpush: { headers: { TTL: String(TTL_S), Urgency: 'high' }, notification: { tag } },
	};
}

/** Without a notification in it, it is handed to the application, which shows nothing. */
export function withdrawalMessages(token: string, { badge, messages }: Withdrawal) {
	const parts = [];
	for (let start = 0; start === 0 || start < messages.length; start += MOST_WITHDRAWN) {
		const withdrawn = messages
			.slice(start, start + MOST_WITHDRAWN)
			.map(({ conversation, ts }) => ({ channel: conversation, ts: formatTs(ts) }));
		parts.push({
			token,
			data: { type: 'withdrawn', badge: String(badge), withdrawn: JSON.stringify(withdrawn) },
			android: { priority: 'NORMAL', ttl: `${TTL_S}s` },
			webpush: { headers: { TTL: String(TTL_S), Urgency: 'normal' } },
		});
	}
	return parts;
}

import { formatTs } from '../../model/ts.ts';
import { collapseId, type Notification, type Withdrawal } from '../provider.ts';

/** Payloads for FCM: one message for Android and browsers. Data contains only texts. */

const TTL_S = 24 * 60 * 60;
const MAX_WITHDRAWN = 50;

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
			// A second notification with this tag replaces the first; the application removes it by the tag.
			notification: { tag, notification_count: badge },
		},
		webpush: { headers: { TTL: String(TTL_S), Urgency: 'high' }, notification: { tag } },
	};
}

/** Has no notification part, so the system shows nothing and passes it to the application. */
export function withdrawalMessages(token: string, { badge, messages }: Withdrawal) {
	const parts = [];
	for (let start = 0; start === 0 || start < messages.length; start += MAX_WITHDRAWN) {
		const withdrawn = messages
			.slice(start, start + MAX_WITHDRAWN)
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

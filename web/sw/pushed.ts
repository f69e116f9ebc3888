import { formatRoute, toConversation } from '../src/session/address.ts';

/** Parses pushed payloads (src/push/web/payload.ts) and derives what to show. Pure. */

export interface PushedMessage {
	readonly type: 'message';
	readonly title: string;
	readonly body: string;
	/** The same for every push about a message, so that a second push replaces the first notification. */
	readonly tag: string;
	readonly channel: string;
	readonly ts: string;
	readonly thread_ts?: string;
	readonly badge: number;
}

/** The messages were read elsewhere, or no longer exist. */
export interface PushedWithdrawal {
	readonly type: 'withdrawn';
	readonly tags: readonly string[];
	readonly badge: number;
}

export type Pushed = PushedMessage | PushedWithdrawal;

/** Null if the payload is of an unknown type, from a newer server. */
export function parsePushed(text: string): Pushed | null {
	try {
		const value = JSON.parse(text) as Pushed;
		return value.type === 'message' || value.type === 'withdrawn' ? value : null;
	} catch {
		return null;
	}
}

/** The address that a click opens: the message, or its thread beside the conversation. */
export function addressOf({ channel, ts, thread_ts: root }: Omit<PushedMessage, 'type'>): string {
	const route = toConversation(channel, root ?? ts);
	return formatRoute(root ? { ...route, thread: { channel, ts: root } } : route);
}

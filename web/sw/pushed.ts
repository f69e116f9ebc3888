import { formatRoute, toConversation } from '../src/session/address.ts';

/** What the server pushes (src/push/web/payload.ts), and what follows from it. Pure. */

export interface PushedMessage {
	readonly type: 'message';
	readonly title: string;
	readonly body: string;
	/** One for each message: a second push of it replaces what is shown. */
	readonly tag: string;
	readonly channel: string;
	readonly ts: string;
	readonly thread_ts?: string;
	readonly badge: number;
}

/** Read elsewhere, or nothing to be read any more. */
export interface PushedWithdrawal {
	readonly type: 'withdrawn';
	readonly tags: readonly string[];
	readonly badge: number;
}

export type Pushed = PushedMessage | PushedWithdrawal;

/** Null: of a server that knows more than this. */
export function parsePushed(text: string): Pushed | null {
	try {
		const value = JSON.parse(text) as Pushed;
		return value.type === 'message' || value.type === 'withdrawn' ? value : null;
	} catch {
		return null;
	}
}

/** Where a click leads: to the message, or to its thread beside the conversation. */
export function addressOf({ channel, ts, thread_ts: root }: Omit<PushedMessage, 'type'>): string {
	const route = toConversation(channel, root ?? ts);
	return formatRoute(root ? { ...route, thread: { channel, ts: root } } : route);
}

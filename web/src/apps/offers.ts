import type { TidemarkClient } from '@tidemark/client';
import { useSyncExternalStore } from 'react';

/** The commands, shortcuts and home tabs of the workspace's apps. Loaded once, and again with every command that is sent. */

export interface Shortcut {
	readonly name: string;
	readonly type: 'global' | 'message';
	readonly callback_id: string;
	readonly app_id: string;
	readonly app_name: string;
}

export interface Offers {
	readonly commands: readonly { readonly name: string; readonly desc: string; readonly usage: string }[];
	readonly shortcuts: readonly Shortcut[];
	readonly homes: readonly {
		readonly app_id: string;
		readonly app_name: string;
		readonly bot_user_id: string;
	}[];
}

let offers: Offers = { commands: [], shortcuts: [], homes: [] };
const listeners = new Set<() => void>();
const subscribe = (listener: () => void): (() => void) => {
	listeners.add(listener);
	return () => listeners.delete(listener);
};

export const useOffers = (): Offers => useSyncExternalStore(subscribe, () => offers);

export async function loadOffers(client: TidemarkClient): Promise<Offers> {
	offers = await client.call<Offers>('commands.list');
	for (const listener of listeners) listener();
	return offers;
}

/** `message`: for a shortcut of a message. */
export const runShortcut = (
	client: TidemarkClient,
	{ app_id, callback_id }: Shortcut,
	message?: { readonly channel: string; readonly message_ts: string },
): Promise<unknown> => client.call('shortcuts.run', { app_id, callback_id, ...message });

import type { TidemarkClient } from '@tidemark/client';
import { useSyncExternalStore } from 'react';

/** The commands, shortcuts and home tabs of the workspace's apps. Loaded at the start, and before each command is sent. */

export interface Shortcut {
	readonly name: string;
	readonly type: 'global' | 'message';
	readonly callback_id: string;
	readonly app_id: string;
	readonly app_name: string;
}

export interface AppFeatures {
	readonly commands: readonly { readonly name: string; readonly desc: string; readonly usage: string }[];
	readonly shortcuts: readonly Shortcut[];
	readonly homes: readonly {
		readonly app_id: string;
		readonly app_name: string;
		readonly bot_user_id: string;
	}[];
}

let features: AppFeatures = { commands: [], shortcuts: [], homes: [] };
const listeners = new Set<() => void>();
const subscribe = (listener: () => void): (() => void) => {
	listeners.add(listener);
	return () => listeners.delete(listener);
};

export const useAppFeatures = (): AppFeatures => useSyncExternalStore(subscribe, () => features);

export async function loadAppFeatures(client: TidemarkClient): Promise<AppFeatures> {
	features = await client.call<AppFeatures>('commands.list');
	for (const listener of listeners) listener();
	return features;
}

/** `message`: the message that a message shortcut is used on. */
export const runShortcut = (
	client: TidemarkClient,
	{ app_id, callback_id }: Shortcut,
	message?: { readonly channel: string; readonly message_ts: string },
): Promise<unknown> => client.call('shortcuts.run', { app_id, callback_id, ...message });

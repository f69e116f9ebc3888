import type { TidemarkClient } from '@tidemark/client';
import { useSyncExternalStore } from 'react';
import { type Fields, fieldsIn, stringIn } from '../message/rich/json.ts';

/** What apps show to this user: ephemeral messages, which are not stored, and the stack of open modals. */

export interface EphemeralMessage {
	readonly channel: string;
	readonly ts: string;
	/** The event as received: an action on the message sends it back. */
	readonly wire: Fields;
}

interface Surfaces {
	readonly messages: readonly EphemeralMessage[];
	readonly views: readonly Fields[];
}

const MAX_MESSAGES = 20;
let shown: Surfaces = { messages: [], views: [] };
const listeners = new Set<() => void>();

function set(next: Surfaces): void {
	shown = next;
	for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
	listeners.add(listener);
	return () => listeners.delete(listener);
};

export const useSurfaces = (): Surfaces => useSyncExternalStore(subscribe, () => shown);

export const dismiss = (ts: string): void =>
	set({ ...shown, messages: shown.messages.filter((message) => message.ts !== ts) });

export const closeView = (id: string): void =>
	set({ ...shown, views: shown.views.filter((view) => view.id !== id) });

/** Returns a function that stops listening. */
export const listenToApps = (client: TidemarkClient): (() => void) => client.onEvent(receive);

function receive(event: Fields): void {
	if (event.type === 'message' && event.is_ephemeral === true) receiveMessage(event);
	const view = fieldsIn(event.view);
	const id = stringIn(view.id);
	if (event.type === 'view_closed') closeView(id);
	if (view.type !== 'modal') return;
	if (event.type === 'view_opened') set({ ...shown, views: [view] });
	if (event.type === 'view_pushed') set({ ...shown, views: [...shown.views, view] });
	if (event.type === 'view_updated')
		set({ ...shown, views: shown.views.map((one) => (one.id === id ? view : one)) });
}

function receiveMessage(event: Fields): void {
	const channel = stringIn(event.channel);
	if (event.subtype === 'message_deleted') {
		dismiss(stringIn(event.deleted_ts));
		return;
	}
	const wire = event.subtype === 'message_changed' ? fieldsIn(event.message) : event;
	const ts = stringIn(wire.ts);
	const others = shown.messages.filter((message) => message.ts !== ts);
	set({ ...shown, messages: [...others, { channel, ts, wire }].slice(-MAX_MESSAGES) });
}

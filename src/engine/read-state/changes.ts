import type { ConversationKind } from '../../model/ids.ts';
import { inTimeline, type Message } from '../../model/message.ts';
import type { Effect } from '../../sequencer/effects.ts';
import type { EntryRow } from '../ports/store.ts';

/** What the effects of a command change in a view of its conversation. Pure. */

/** A change of an entry: in the timeline, in a thread (`root`, 0 for none), or in both. */
export interface EntryChange {
	readonly type: 'post' | 'edit' | 'delete';
	/** The whole entry; for a delete, as it was before the delete. */
	readonly row: EntryRow;
	readonly isInTimeline: boolean;
	readonly root: number;
	/** The thread has no other reply: a timeline with this one entry is the complete thread. */
	readonly isFirstReply: boolean;
}

export interface SettingsChange {
	readonly type: 'create' | 'settings';
	readonly kind: ConversationKind;
	readonly isArchived: boolean;
}

export type ConversationChange = EntryChange | SettingsChange;

/** All changes of one command. */
export interface CommandChanges {
	readonly stamp: number;
	readonly changes: readonly ConversationChange[];
}

/** Groups effects by command: the effects of a command share a conversation and a stamp. Usually there is one command. */
export function effectsByCommand(effects: readonly Effect[]): (readonly Effect[])[] {
	if (effects.length === 1) return [effects];
	const [first] = effects;
	const isOne = effects.every(
		({ at, conversation: { id } }) => at === first?.at && id === first.conversation.id,
	);
	if (isOne) return first ? [effects] : [];
	return [...Map.groupBy(effects, ({ conversation, at }) => `${conversation.id} ${at}`).values()];
}

/** What the effects of one command change. */
export function changesOf(effects: readonly Effect[]): CommandChanges {
	const changes: ConversationChange[] = [];
	for (const effect of effects) {
		const change = changeOf(effect);
		if (change) changes.push(change);
	}
	return { stamp: effects[0]?.at ?? 0, changes };
}

function changeOf(effect: Effect): ConversationChange | null {
	switch (effect.type) {
		case 'created':
		case 'changed': {
			const { kind, archived } = effect.conversation;
			return { type: effect.type === 'created' ? 'create' : 'settings', kind, isArchived: archived };
		}
		case 'posted':
			return entryChange('post', effect.message, effect.thread?.replyCount === 1);
		case 'edited':
			return entryChange('edit', effect.message);
		case 'deleted':
			return entryChange('delete', effect.previous);
		default:
			return null;
	}
}

/** Without the text of the message, because changes may stay in memory. */
function entryChange(type: EntryChange['type'], message: Message, isFirstReply = false): EntryChange {
	const { ts, user, broadcast, channelWide, here, named, threadTs } = message;
	const row = { ts, user, broadcast, channelWide, here, named };
	return { type, row, isInTimeline: inTimeline(message), root: threadTs ?? 0, isFirstReply };
}

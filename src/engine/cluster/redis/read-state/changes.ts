import { inTimeline } from '../../../../model/message.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import { packEntry } from './packing.ts';

/** What the effects of a command change in a view of its conversation, as texts that Redis keeps. Pure. */

/** A change of an entry: in the timeline, in a thread (`root`, 0 for none), or in both. */
export interface EntryChange {
	readonly type: 'post' | 'edit' | 'delete';
	readonly ts: number;
	readonly isInTimeline: boolean;
	readonly root: number;
	/** As `packEntry` packs it; of a deleted message, the entry before. */
	readonly entry: string;
	/** A reply without others: its thread is complete with it. */
	readonly isFirstReply: boolean;
}

export interface SettingsChange {
	readonly type: 'create' | 'settings';
	readonly kind: string;
	readonly isArchived: boolean;
}

export type ConversationChange = EntryChange | SettingsChange;

/** All changes of one command. */
export interface CommandChanges {
	readonly stamp: number;
	readonly changes: readonly ConversationChange[];
}

const TYPES = {
	created: 'create',
	changed: 'settings',
	posted: 'post',
	edited: 'edit',
	deleted: 'delete',
} as const;

function changeOf(effect: Effect): ConversationChange[] {
	switch (effect.type) {
		case 'created':
		case 'changed': {
			const { kind, archived } = effect.conversation;
			return [{ type: TYPES[effect.type], kind, isArchived: archived }];
		}
		case 'posted':
		case 'edited':
		case 'deleted': {
			const message = effect.type === 'deleted' ? effect.previous : effect.message;
			return [
				{
					type: TYPES[effect.type],
					ts: message.ts,
					isInTimeline: inTimeline(message),
					root: message.threadTs ?? 0,
					entry: packEntry(message),
					isFirstReply: effect.type === 'posted' && effect.thread?.replyCount === 1,
				},
			];
		}
		default:
			return [];
	}
}

/** Effects with the same stamp belong to one command. */
export const changesOf = (effects: readonly Effect[]): CommandChanges[] =>
	[...Map.groupBy(effects, ({ at }) => at)].map(([stamp, some]) => ({
		stamp,
		changes: some.flatMap(changeOf),
	}));

/** The parts of each change are separated by semicolons, and changes by blanks. */
export const packChanges = (changes: readonly ConversationChange[]): string =>
	changes.map((change) => partsOf(change).join(';')).join(' ');

function partsOf(change: ConversationChange): (string | number)[] {
	if (!('ts' in change)) return [change.type, change.kind, change.isArchived ? 1 : 0];
	const { type, ts, isInTimeline, root, entry, isFirstReply } = change;
	return [type, ts, isInTimeline ? 1 : 0, root, entry, ...(isFirstReply ? [1] : [])];
}

/** `stamp change change…` */
export function unpackCommand(packed: string): CommandChanges {
	const [stamp, ...changes] = packed.split(' ');
	return { stamp: Number(stamp), changes: changes.map(unpackChange) };
}

function unpackChange(packed: string): ConversationChange {
	const [type, first = '', second, root, entry = '', isFirstReply] = packed.split(';');
	if (type === 'create' || type === 'settings') return { type, kind: first, isArchived: second === '1' };
	return {
		type: type as EntryChange['type'],
		ts: Number(first),
		isInTimeline: second === '1',
		root: Number(root),
		entry,
		isFirstReply: isFirstReply === '1',
	};
}

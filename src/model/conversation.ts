import type { ConversationKind } from './ids.ts';

export interface Remark {
	readonly value: string;
	readonly creator: string;
	/** Seconds, as Slack has it. */
	readonly lastSet: number;
}

export const NO_REMARK: Remark = { value: '', creator: '', lastSet: 0 };

/** A conversation without its messages and members. */
export interface Conversation {
	readonly id: string;
	readonly team: string;
	readonly kind: ConversationKind;
	/** Empty for direct messages. */
	readonly name: string;
	readonly creator: string;
	/** Micros. */
	readonly createdTs: number;
	readonly archived: boolean;
	readonly topic: Remark;
	readonly purpose: Remark;
	readonly previousNames: readonly string[];
	readonly memberCount: number;
	/** The people of a direct message, who never change; empty for channels. */
	readonly people: readonly string[];
	/** Stamp of the newest change of this record. */
	readonly changedTs: number;
}

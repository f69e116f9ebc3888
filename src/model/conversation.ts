import { type ConversationKind, generalChannelOf } from './ids.ts';

/** A topic or a purpose. */
export interface ChannelText {
	readonly value: string;
	readonly creator: string;
	/** In seconds, as in Slack's API. */
	readonly lastSet: number;
}

export const NO_CHANNEL_TEXT: ChannelText = { value: '', creator: '', lastSet: 0 };

/** A conversation without its messages and members. */
export interface Conversation {
	readonly id: string;
	readonly team: string;
	readonly kind: ConversationKind;
	/** Empty for direct messages. */
	readonly name: string;
	readonly creator: string;
	/** In microseconds. */
	readonly createdTs: number;
	readonly archived: boolean;
	readonly topic: ChannelText;
	readonly purpose: ChannelText;
	readonly previousNames: readonly string[];
	readonly memberCount: number;
	/** The members of a direct or group message, which never change; empty for channels. */
	readonly people: readonly string[];
	/** Stamp of the newest change of name, topic, purpose or archiving. Joins and leaves do not change it. */
	readonly changedTs: number;
}

export const isGeneral = ({ id, team }: Pick<Conversation, 'id' | 'team'>): boolean =>
	id === generalChannelOf(team);

import type { Conversation } from '../../model/conversation.ts';
import type { ConversationKind } from '../../model/ids.ts';
import type { Message } from '../../model/message.ts';
import type { Pin } from '../../model/pins.ts';
import type { Reaction } from '../../model/reactions.ts';
import type { Follow, JoinState } from '../../sequencer/state.ts';
import type { Page, Profile, Team, Token, TokenUse, User } from './accounts.ts';
import type { Apps } from './apps.ts';
import type { Changes } from './changes.ts';
import type { Fact, NotificationLevel } from './facts.ts';
import type { Files } from './files.ts';
import type { Invites } from './invites.ts';
import type { LogSpan } from './log.ts';
import type { PushStore } from './push.ts';
import type { Scheduled } from './scheduled.ts';
import type { Search } from './search.ts';
import type { WorkspaceChanges } from './workspace-changes.ts';

/** Durable storage. One port per use. */

export type { Page, Profile, Team, Token, TokenUse, User } from './accounts.ts';

/** Workspaces, users, tokens, and the list of conversations. Changes are durable when the promise resolves. */
export interface Directory extends Invites {
	createTeam(team: Team): Promise<void>;
	team(id: string): Promise<Team | null>;
	/** All workspaces, by id. */
	teams(after: string | null, limit: number): Promise<Page<Team>>;
	/** The workspace's secret, the same for all processes; `fresh` is stored if there is none. Rejects with `team_not_found`. */
	teamSecret(id: string, fresh: string): Promise<string>;
	/** Resolves to false if the name is taken in the workspace. */
	createUser(user: User): Promise<boolean>;
	users(ids: readonly string[]): Promise<readonly User[]>;
	usersOf(team: string, after: string | null, limit: number): Promise<Page<User>>;
	/** Including deactivated users; by id. */
	usersNamed(team: string, names: readonly string[]): Promise<readonly User[]>;
	/** The first user, by id, who is not deactivated and has this email address, ignoring case. */
	userWithEmail(team: string, email: string): Promise<User | null>;
	setProfile(user: string, profile: Profile, realName: string, at: number): Promise<void>;
	snooze(user: string, until: number): Promise<void>;
	/** Settings that the user's clients share across devices, by name. */
	preferences(user: string): Promise<ReadonlyMap<string, string>>;
	/** An empty value removes it. */
	setPreference(user: string, name: string, value: string): Promise<void>;
	createToken(token: Token): Promise<void>;
	token(hash: string): Promise<Token | null>;
	revokeToken(hash: string, at: number): Promise<void>;
	/** Ignores uses earlier than the recorded one. */
	noteTokenUse(uses: readonly TokenUse[]): Promise<void>;
	/** Ordered by hash; includes revoked and expired ones. */
	tokensOf(user: string, after: string | null, limit: number): Promise<Page<Token>>;
	/** Those that are neither revoked nor expired at `at`; the newest first. */
	activeTokensOf(user: string, at: number, limit: number): Promise<readonly Token[]>;
	/** The token whose hash starts with this; null if there is none, or more than one. */
	tokenStarting(hashStart: string): Promise<Token | null>;
	/** Revokes all tokens of the user, open invite links, and every JWT issued up to `at` (wall clock, in microseconds). */
	signOut(user: string, at: number): Promise<void>;
	/** As `signOut` at `signedOutAt`, and the user cannot sign in any more. Removes their push devices and scheduled messages. */
	deactivateUser(user: string, at: number, signedOutAt: number): Promise<void>;
	reactivateUser(user: string, at: number): Promise<void>;
	/** The conversation that reserved this name; it may have a new name by now, or not exist yet. */
	channelNamed(team: string, name: string): Promise<string | null>;
	/**
	 * Reserves a channel name for this conversation. Resolves to false if another conversation has or reserved the name, even
	 * one that was never created: see `abandonedName`.
	 */
	reserveName(team: string, name: string, conversation: string, at: number): Promise<boolean>;
	/**
	 * The conversation that reserved the name at or before this stamp, if the store does not know it under this name. Its
	 * creation or rename may still be in the log; release the name only once that command has been decided.
	 */
	abandonedName(team: string, name: string, reservedUpTo: number): Promise<string | null>;
	/** Releases a reservation, made at or before this stamp, of a name that its conversation does not have. */
	releaseName(team: string, name: string, conversation: string, reservedUpTo?: number): Promise<void>;
	conversations(ids: readonly string[]): Promise<readonly Conversation[]>;
	/** Public channels of the workspace and all other conversations of the user, by id. */
	conversationsOf(
		query: {
			readonly team: string;
			readonly user: string;
			/** Only conversations of this user. */
			readonly memberOnly: boolean;
			/** Another user who asks: restricts non-public conversations to those that both are in. Requires `memberOnly`. */
			readonly viewer?: string;
			readonly kinds: readonly ConversationKind[];
			readonly excludeArchived: boolean;
		},
		after: string | null,
		limit: number,
	): Promise<Page<Conversation>>;
	members(conversation: string, after: string | null, limit: number): Promise<Page<string>>;
	/** Members whose cursor is at or after `ts`, or who have it in their ahead set; by user id, without the message's author. */
	readers(conversation: string, ts: number, after: string | null, limit: number): Promise<Page<string>>;
}

export interface Range {
	/** Exclusive bounds in microseconds. */
	readonly after: number;
	readonly before: number;
	readonly limit: number;
	/** Which end of the range the page starts from. Items ascend by ts in both cases. */
	readonly nearest: 'newest' | 'oldest';
	/** Ends the page with the message that reaches this size (`bytesOf`); reads nothing beyond. */
	readonly mostBytes?: number;
}

/** Summary of a thread, as in history. */
export interface ThreadInfo {
	readonly threadTs: number;
	readonly replyCount: number;
	readonly latestReply: number;
	/** Up to five, in order of first reply. */
	readonly replyUsers: readonly string[];
	readonly replyUsersCount: number;
}

/** Stored messages. */
export interface History {
	/** Timeline messages, and tombstones of deleted roots that have replies. */
	timeline(conversation: string, range: Range): Promise<readonly Message[]>;
	/** Undeleted replies. */
	replies(conversation: string, threadTs: number, range: Range): Promise<readonly Message[]>;
	/** In ts order, including deleted ones; unknown ts are omitted. `most` limits them like a page. */
	messages(
		conversation: string,
		ts: readonly number[],
		most?: Required<Pick<Range, 'nearest' | 'mostBytes'>>,
	): Promise<readonly Message[]>;
	/** Those of these roots that have undeleted replies. */
	threads(conversation: string, roots: readonly number[]): Promise<readonly ThreadInfo[]>;
	/** Reactions of those messages that have any, in display order. If the viewer has reacted, `users` has the viewer. */
	reactions(
		conversation: string,
		ts: readonly number[],
		viewer: string,
	): Promise<ReadonlyMap<number, readonly Reaction[]>>;
	/** The pins of a conversation, by ts. */
	pins(conversation: string): Promise<readonly Pin[]>;
	/** Users who reacted to a message, by emoji; the earliest `limit` reactions. */
	reactors(conversation: string, ts: number, limit: number): Promise<ReadonlyMap<string, readonly string[]>>;
	/** A user's reactions before this stamp, newest first. Does not check whether the caller may see the messages. */
	reactedTo(user: string, before: number, limit: number): Promise<readonly ReactedMessage[]>;
}

export interface ReactedMessage {
	readonly conversation: string;
	readonly ts: number;
	readonly at: number;
}

export interface EntryRow {
	readonly ts: number;
	readonly user: string;
	readonly broadcast: boolean;
	readonly channelWide: boolean;
	readonly here: boolean;
	readonly named: readonly string[];
}

export interface ConversationBrief {
	readonly id: string;
	readonly team: string;
	readonly kind: ConversationKind;
	readonly archived: boolean;
	/** Newest timeline ts; 0 for none. */
	readonly latest: number;
	/** Stamp of its newest change. */
	readonly stamp: number;
}

export interface MembershipRow {
	readonly conversation: string;
	readonly member: boolean;
	readonly joinedTs: number;
	readonly cursor: number;
	readonly revision: number;
	readonly muted: boolean;
	readonly level: NotificationLevel;
	/** Stamp of its newest change. */
	readonly changedTs: number;
	/** Stamp of muting or setting the notification level; 0 for never. */
	readonly preferredTs: number;
	/** If the store has marks of a membership, but not its join: the stamp of that join. Otherwise absent. */
	readonly awaitedJoin?: number;
}

export interface UserReadState {
	/** Including former memberships: rejoining continues from their revision. */
	readonly memberships: readonly MembershipRow[];
	readonly ahead: readonly { readonly conversation: string; readonly ts: number }[];
	/** Active follows only. */
	readonly follows: readonly {
		readonly conversation: string;
		readonly threadTs: number;
		readonly cursor: number;
		readonly since: number;
		readonly changedTs: number;
	}[];
	/** Changes between active and inactive, ascending. */
	readonly activity: readonly { readonly at: number; readonly active: boolean }[];
	/** Stamp of the newest change of a membership or follow. */
	readonly stamp: number;
}

/** A message that was sent with a `client_msg_id`. */
export interface Send {
	readonly user: string;
	readonly clientMsgId: string;
	readonly ts: number;
}

/** Timeline entries with `after` < ts <= `upTo`. Each conversation at most once. */
export interface TimelineRange {
	readonly conversation: string;
	readonly after: number;
	readonly upTo: number;
}

export interface MentioningEntries {
	/** Ascending. */
	readonly entries: readonly EntryRow[];
	/** `upTo` for the next older page; null at the end. */
	readonly next: number | null;
}

/** Loads state into memory or Redis, on first use. */
export interface StateSource {
	/** For the sequencer. Null: no such conversation. */
	head(conversation: string): Promise<{
		readonly conversation: Conversation;
		readonly stamp: number;
		readonly lastTs: number;
	} | null>;
	memberships(conversation: string, users: readonly string[]): Promise<ReadonlyMap<string, JoinState>>;
	threadReplies(
		conversation: string,
		threadTs: number,
	): Promise<readonly { readonly ts: number; readonly user: string }[]>;
	follows(
		conversation: string,
		threadTs: number,
		users: readonly string[],
	): Promise<ReadonlyMap<string, Follow>>;
	/** ts of the newest message with this `client_msg_id`. */
	send(conversation: string, user: string, clientMsgId: string): Promise<number | null>;
	/** The newest messages after this stamp that have a `client_msg_id`, including deleted ones; ascending. */
	recentSends(conversation: string, after: number, limit: number): Promise<readonly Send[]>;

	/** Reactions to a message, and the names of this user's reactions. */
	reactionsFor(
		conversation: string,
		ts: number,
		user: string,
	): Promise<{ readonly reactions: readonly Reaction[]; readonly own: readonly string[] }>;

	/** For the read state. */
	briefs(conversations: readonly string[]): Promise<readonly ConversationBrief[]>;
	user(user: string): Promise<UserReadState>;
	/** The states of these users in one conversation, without their activity. */
	usersIn(conversation: string, users: readonly string[]): Promise<ReadonlyMap<string, UserReadState>>;
	/** The newest timeline entries with `after` < ts <= `upTo`, ascending. */
	timelineEntries(
		conversation: string,
		after: number,
		upTo: number,
		limit: number,
	): Promise<readonly EntryRow[]>;
	/** Reads the newest `limit` messages that mention somebody, and returns those of them that are in the timeline. */
	mentioningEntries(
		conversation: string,
		after: number,
		upTo: number,
		limit: number,
	): Promise<MentioningEntries>;
	/** As `timelineEntries`, for many conversations; those without entries are omitted. */
	timelinesOf(
		ranges: readonly TimelineRange[],
		limitEach: number,
	): Promise<ReadonlyMap<string, readonly EntryRow[]>>;
	/** The newest undeleted replies with ts <= `upTo`, ascending. */
	threadEntries(
		conversation: string,
		threadTs: number,
		upTo: number,
		limit: number,
	): Promise<readonly EntryRow[]>;
	/** Start times of servers, ascending: a start ends all earlier activity. */
	starts(): Promise<readonly number[]>;
	/** Every change up to this stamp is stored, later ones may still arrive; 0 if unknown. */
	completeUpTo(): number;
}

/** Persists facts in the order of the calls. A ledger of marks may still persist facts that it has rejected. */
export interface Ledger {
	/** Resolves when all of the facts are durable; rejects if it is not certain that all of them are durable. */
	commit(facts: readonly Fact[]): Promise<void>;
	/**
	 * Waits for everything that was passed to `commit` so far. If one of these commits fails, `GroupCommit`
	 * rejects this call too, because its caller may have seen the failed change; `MarkLedger` resolves.
	 */
	flushed(): Promise<void>;
	/** Stamp of the newest durable fact, if facts are committed in the order of their stamps; otherwise 0. */
	durable(): number;
}

/** Persists facts together with the log offset that they were decided up to. */
export interface PartitionLedger {
	/** The offset to resume from. */
	nextOffset(partition: string): Promise<number>;
	/** The offset to resume from, of every partition that has one. */
	nextOffsets(): Promise<ReadonlyMap<string, number>>;
	/** Id of the log that the offset belongs to; null if unknown. */
	logIdOf(partition: string): Promise<string | null>;
	/**
	 * Resolves when the facts and `span.to` are durable; they are written atomically. Rejects without a write if the offset
	 * is no longer `span.from`: another owner has written.
	 */
	commitWithProgress(facts: readonly Fact[], span: LogSpan): Promise<void>;
}

export interface Store {
	readonly directory: Directory;
	readonly history: History;
	readonly source: StateSource;
	readonly changes: Changes;
	readonly workspaceChanges: WorkspaceChanges;
	readonly ledger: Ledger;
	readonly push: PushStore;
	readonly apps: Apps;
	readonly search: Search;
	readonly scheduled: Scheduled;
	readonly files: Files;
	/** The newest recorded stamp; the clock continues from it. In a cluster, commits of partitions do not record theirs. */
	newestStamp(): Promise<number>;
	close(): Promise<void>;
}

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

/** What is kept for good. One port for each use of it. */

export type { Page, Profile, Team, Token, TokenUse, User } from './accounts.ts';

/** Workspaces, people, tokens, and which conversations there are. Changes are durable when they resolve. */
export interface Directory extends Invites {
	createTeam(team: Team): Promise<void>;
	team(id: string): Promise<Team | null>;
	/** All workspaces, by id. */
	teams(after: string | null, limit: number): Promise<Page<Team>>;
	/** The workspace's secret, the same for every process; `fresh` becomes it where there is none yet. */
	teamSecret(id: string, fresh: string): Promise<string>;
	/** Answers false when the name is taken in the workspace. */
	createUser(user: User): Promise<boolean>;
	users(ids: readonly string[]): Promise<readonly User[]>;
	usersOf(team: string, after: string | null, limit: number): Promise<Page<User>>;
	/** Deactivated ones too; by id. */
	usersNamed(team: string, names: readonly string[]): Promise<readonly User[]>;
	/** The first, by id, of the active users with this address, whatever its case. */
	userWithEmail(team: string, email: string): Promise<User | null>;
	setProfile(user: string, profile: Profile, realName: string, at: number): Promise<void>;
	snooze(user: string, until: number): Promise<void>;
	/** What the user's clients keep for all devices, by name. */
	preferences(user: string): Promise<ReadonlyMap<string, string>>;
	/** An empty value removes it. */
	setPreference(user: string, name: string, value: string): Promise<void>;
	createToken(token: Token): Promise<void>;
	token(hash: string): Promise<Token | null>;
	revokeToken(hash: string, at: number): Promise<void>;
	/** An earlier use than the one recorded changes nothing. */
	noteTokenUse(uses: readonly TokenUse[]): Promise<void>;
	/** By hash; revoked and expired ones too. */
	tokensOf(user: string, after: string | null, limit: number): Promise<Page<Token>>;
	/** The token whose hash starts so; null where none does, or several do. */
	tokenStarting(hashStart: string): Promise<Token | null>;
	/** Revokes all tokens of the user, and with them every JWT issued up to `at`: wall time, in microseconds. */
	signOut(user: string, at: number): Promise<void>;
	/** The same as of `signedOutAt`, and nobody signs in as this user from here on. Their push devices are removed. */
	deactivateUser(user: string, at: number, signedOutAt: number): Promise<void>;
	reactivateUser(user: string, at: number): Promise<void>;
	/** The conversation that reserved this name: it may carry another one by now, or not exist yet. */
	channelNamed(team: string, name: string): Promise<string | null>;
	/**
	 * Makes a channel name belong to this conversation. Answers false when another one has it, be it that nothing came of it: see
	 * `abandonedName`.
	 */
	reserveName(team: string, name: string, conversation: string, at: number): Promise<boolean>;
	/**
	 * Which conversation reserved the name up to this stamp, where the store does not know it to carry it. What it was reserved for
	 * may still be on its way; only when that is settled may the name be released.
	 */
	abandonedName(team: string, name: string, reservedUpTo: number): Promise<string | null>;
	/** Gives back a reservation, made up to this stamp, that its conversation does not carry. */
	releaseName(team: string, name: string, conversation: string, reservedUpTo?: number): Promise<void>;
	conversations(ids: readonly string[]): Promise<readonly Conversation[]>;
	/** Public channels of the workspace, and whatever else the user is in, by id. */
	conversationsOf(
		query: {
			readonly team: string;
			readonly user: string;
			/** Only what this user is in. */
			readonly memberOnly: boolean;
			/** Another user who asks: of what is not public, only what both are in. With `memberOnly` alone. */
			readonly viewer?: string;
			readonly kinds: readonly ConversationKind[];
			readonly excludeArchived: boolean;
		},
		after: string | null,
		limit: number,
	): Promise<Page<Conversation>>;
	members(conversation: string, after: string | null, limit: number): Promise<Page<string>>;
	/** Members whose cursor is at or after `ts` or who read it ahead, by user id; its author left out. */
	readers(conversation: string, ts: number, after: string | null, limit: number): Promise<Page<string>>;
}

export interface Range {
	/** Exclusive bounds, micros. */
	readonly after: number;
	readonly before: number;
	readonly limit: number;
	/** The page nearest to which end. Items come in ts order, ascending, either way. */
	readonly nearest: 'newest' | 'oldest';
	/** Ends the page with the message that reaches so many bytes (`bytesOf`); nothing beyond it is read. */
	readonly mostBytes?: number;
}

/** A thread's root, as history shows it. */
export interface ThreadInfo {
	readonly threadTs: number;
	readonly replyCount: number;
	readonly latestReply: number;
	/** Up to five, in order of first reply. */
	readonly replyUsers: readonly string[];
	readonly replyUsersCount: number;
}

/** What was said. */
export interface History {
	/** Timeline messages, and tombstones of deleted roots that have replies. */
	timeline(conversation: string, range: Range): Promise<readonly Message[]>;
	/** Undeleted replies. */
	replies(conversation: string, threadTs: number, range: Range): Promise<readonly Message[]>;
	/** In ts order; those that do not exist are left out, deleted ones are not. `most` bounds them like a page. */
	messages(
		conversation: string,
		ts: readonly number[],
		most?: Required<Pick<Range, 'nearest' | 'mostBytes'>>,
	): Promise<readonly Message[]>;
	/** Of these roots, the ones that have undeleted replies. */
	threads(conversation: string, roots: readonly number[]): Promise<readonly ThreadInfo[]>;
	/** Of these messages, those that have any; in the order in which they are shown. */
	reactions(conversation: string, ts: readonly number[]): Promise<ReadonlyMap<number, readonly Reaction[]>>;
	/** What is pinned to a conversation, by ts. */
	pins(conversation: string): Promise<readonly Pin[]>;
	/** By name, the users who react to a message; of so many reactions, the earliest. */
	reactors(conversation: string, ts: number, limit: number): Promise<ReadonlyMap<string, readonly string[]>>;
	/** A user's reactions, the newest first, from before this stamp on. Whether the caller may see them is not looked at. */
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
	/** Stamp of its newest change of any kind. */
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
	/** Stamp of its newest change of any kind. */
	readonly changedTs: number;
	/** Stamp of when it was muted or its notification level set; 0 for never. */
	readonly preferredTs: number;
}

export interface UserReadState {
	/** Former memberships too: rejoining goes on from their revision. */
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
	/** When the user became active or ceased to be, ascending. */
	readonly activity: readonly { readonly at: number; readonly active: boolean }[];
	/** Stamp of the newest change of any of these. */
	readonly stamp: number;
}

/** A message that was sent with an id. */
export interface Send {
	readonly user: string;
	readonly clientMsgId: string;
	readonly ts: number;
}

/** Timeline entries with `after` < ts <= `upTo`. A conversation is asked for once. */
export interface TimelineRange {
	readonly conversation: string;
	readonly after: number;
	readonly upTo: number;
}

export interface MentioningEntries {
	/** Ascending. */
	readonly entries: readonly EntryRow[];
	/** What `upTo` has to be for the ones before; null at the end. */
	readonly next: number | null;
}

/** Loads state that is kept in memory or in Redis, on first use. */
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
	/** ts of the newest send with this id. */
	send(conversation: string, user: string, clientMsgId: string): Promise<number | null>;
	/** The newest sends with an id after a stamp, deleted ones too; ascending. */
	recentSends(conversation: string, after: number, limit: number): Promise<readonly Send[]>;

	/** Reactions to a message, and the names of those that are the user's. */
	reactionsFor(
		conversation: string,
		ts: number,
		user: string,
	): Promise<{ readonly reactions: readonly Reaction[]; readonly own: readonly string[] }>;

	/** For the read state. */
	briefs(conversations: readonly string[]): Promise<readonly ConversationBrief[]>;
	user(user: string): Promise<UserReadState>;
	/** The newest timeline entries with `after` < ts <= `upTo`, ascending. */
	timelineEntries(
		conversation: string,
		after: number,
		upTo: number,
		limit: number,
	): Promise<readonly EntryRow[]>;
	/** Of them, those that mention anybody among the newest `limit` messages that do: replies and deleted ones are passed over. */
	mentioningEntries(
		conversation: string,
		after: number,
		upTo: number,
		limit: number,
	): Promise<MentioningEntries>;
	/** The same as `timelineEntries` for many at once; conversations without such entries are left out. */
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
	/** When servers were started, ascending: users who were active before are not any more. */
	starts(): Promise<readonly number[]>;
	/** Every change with a stamp up to this one is in it, later ones may still arrive; 0 where that is not known. */
	completeUpTo(): number;
}

/** Where facts become durable, in the order they are handed over. */
export interface Ledger {
	/** Resolves when all of them are on disk, together; rejects when none of them is. */
	commit(facts: readonly Fact[]): Promise<void>;
	/** Resolves when everything handed over so far is on disk. */
	settled(): Promise<void>;
	/** Stamp of the newest fact on disk. Facts are handed over in the order of their stamps. */
	durable(): number;
}

/** Facts together with how far the log was read to get them. */
export interface PartitionLedger {
	/** From which offset on the log is to be read. */
	nextOffset(partition: string): Promise<number>;
	/** Which log that offset is of, by its id; null where it is not known. */
	logOf(partition: string): Promise<string | null>;
	/**
	 * Resolves when the facts and `span.to` are on disk, together. Rejects, with nothing written, when the offset is
	 * not `span.from` any more: another owner was here.
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
	/** The newest stamp that was ever written: the clock goes on from there. */
	newestStamp(): Promise<number>;
	close(): Promise<void>;
}

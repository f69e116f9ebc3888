import type { Outgoing } from '../apps/outgoing.ts';
import type { Repairer } from '../durability/repairer.ts';
import type { Verifier } from '../durability/verifier.ts';
import type { Apps } from '../engine/ports/apps.ts';
import type { Bus } from '../engine/ports/bus.ts';
import type { FileContents } from '../engine/ports/file-contents.ts';
import type { Files } from '../engine/ports/files.ts';
import type { PushStore } from '../engine/ports/push.ts';
import type { Scheduled } from '../engine/ports/scheduled.ts';
import type { Search } from '../engine/ports/search.ts';
import type { PresenceState } from '../engine/ports/sessions.ts';
import type { Directory, History, StateSource } from '../engine/ports/store.ts';
import type { Tickets } from '../engine/ports/tickets.ts';
import type { ErrorCode } from '../model/errors.ts';
import type { RandomBytes } from '../model/ids.ts';
import type { Clock } from '../model/ts.ts';
import type { AllowedHosts } from '../push/web/allowed-hosts.ts';
import type { ReadState } from '../unread/read-state.ts';
import type { Reads } from '../unread/reads.ts';
import type { Sync } from '../unread/sync.ts';
import type { AppRequests } from './apps/app-requests.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { DirectPartners } from './direct-partners.ts';
import type { FairGate } from './fair-gate.ts';
import type { Cors } from './http/cors.ts';
import type { Limits } from './limits.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { Requests } from './requests.ts';
import type { Strangers } from './strangers.ts';
import type { TeamSecrets } from './team-secrets.ts';

/** What a gateway reports to its operator. */
export interface Operations {
	/** `/healthz`: the process is up. */
	health(): Response | Promise<Response>;
	/** `/readyz`: it can serve; names what is degraded. */
	ready(): Response | Promise<Response>;
	/** `/metrics`, for Prometheus. */
	metrics(): Response | Promise<Response>;
	/** A method was answered. */
	observe(method: string, outcome: 'ok' | ErrorCode, milliseconds: number): void;
	/** A method failed in a way that nobody planned for. Neither arguments nor tokens are handed over. */
	failed(method: string, error: unknown): void;
}

/** Presence, and its effects: on the read state, and on clients that watch the user. */
export interface PresenceControl {
	setAway(user: string, away: boolean): Promise<unknown>;
	/** Connected and not set to away. */
	isActive(user: string): Promise<boolean>;
	presence(user: string): Promise<PresenceState>;
}

/** What browsers that subscribe need to know, and where their subscriptions may be. */
export interface WebPush {
	/** Base64url: `applicationServerKey`. */
	readonly key: string;
	readonly hosts: AllowedHosts;
}

/** What is known of files, their content, and how much there may be. */
export interface FileServices {
	readonly records: Files;
	readonly contents: FileContents;
	readonly mostBytes: number;
	readonly mostBytesOfTeam: number;
}

/** Everything that methods and sockets work with; made once, by the composition root. */
export interface Services {
	readonly requests: Requests;
	readonly reads: Reads;
	readonly sync: Sync;
	readonly readState: ReadState;
	readonly directory: Directory;
	readonly history: History;
	/** The store without what is still on its way there: for comparing with it. */
	readonly written: Pick<Directory, 'conversations' | 'members'>;
	/** Who follows a thread, as far as the store has it: read the thread first. */
	readonly source: Pick<StateSource, 'memberships' | 'follows'>;
	readonly push: PushStore;
	readonly apps: Apps;
	/** What users do that an app has to answer. */
	readonly appRequests: Pick<AppRequests, 'ask'>;
	/** To the URLs of apps. */
	readonly outgoing: Pick<Outgoing, 'post'>;
	readonly search: Search;
	readonly scheduled: Scheduled;
	/** Null: files are disabled. */
	readonly files: FileServices | null;
	/** What clients reach this server at, where that is configured. */
	readonly publicUrl: string | null;
	/** Null: Web Push is disabled. */
	readonly webPush: WebPush | null;
	readonly bus: Bus;
	readonly auth: Authenticator;
	/** Who is on the other side of direct messages. */
	readonly partners: Pick<DirectPartners, 'check'>;
	readonly teamSecrets: TeamSecrets;
	readonly tickets: Tickets;
	readonly sessions: PresenceControl;
	readonly limits: Limits;
	/** What arrives without a valid token. */
	readonly strangers: Strangers;
	/** Request bodies on their way in. */
	readonly bodies: MemoryBudget;
	/** Large answers, and what sockets resume with, on their way out. */
	readonly answers: MemoryBudget;
	/** Where large answers are made. */
	readonly largeReads: FairGate;
	readonly clock: Clock;
	readonly random: RandomBytes;
	readonly verifier: Pick<Verifier, 'verify' | 'verifyUser'>;
	readonly repairer: Pick<Repairer, 'repair'>;
	readonly operations: Operations;
	/** Null: no page of another origin may call. */
	readonly cors: Cors | null;
	readonly version: string;
}

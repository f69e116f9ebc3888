import type { Outgoing } from '../apps/outgoing.ts';
import type { Repairer } from '../durability/repairer.ts';
import type { Verifier } from '../durability/verifier.ts';
import type { Apps } from '../engine/ports/apps.ts';
import type { Bus } from '../engine/ports/bus.ts';
import type { FileContents } from '../engine/ports/file-contents.ts';
import type { Files } from '../engine/ports/files.ts';
import type { PresenceState } from '../engine/ports/presence.ts';
import type { PushStore } from '../engine/ports/push.ts';
import type { Scheduled } from '../engine/ports/scheduled.ts';
import type { Search } from '../engine/ports/search.ts';
import type { Directory, History, StateSource } from '../engine/ports/store.ts';
import type { Tickets } from '../engine/ports/tickets.ts';
import type { Views } from '../engine/ports/views.ts';
import type { ErrorCode } from '../model/errors.ts';
import type { RandomBytes } from '../model/ids.ts';
import type { Clock } from '../model/ts.ts';
import type { AllowedHosts } from '../push/web/allowed-hosts.ts';
import type { Marking } from '../unread/marking.ts';
import type { ReadState } from '../unread/read-state.ts';
import type { Sync } from '../unread/sync.ts';
import type { AnonymousLimits } from './anonymous-limits.ts';
import type { AppRequests } from './apps/app-requests.ts';
import type { Authenticator } from './auth/authenticator.ts';
import type { DirectPartners } from './direct-partners.ts';
import type { FairGate } from './fair-gate.ts';
import type { Cors } from './http/cors.ts';
import type { Limits } from './limits.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { Requests } from './requests.ts';
import type { TeamSecrets } from './team-secrets.ts';

/** Where a gateway reports to its operator. */
export interface Operations {
	/** `/healthz`: the process is up. */
	health(): Response | Promise<Response>;
	/** `/readyz`: whether the process can serve, and why it is degraded. */
	ready(): Response | Promise<Response>;
	/** `/metrics`, for Prometheus. */
	metrics(): Response | Promise<Response>;
	/** A method was answered. */
	observe(method: string, outcome: 'ok' | ErrorCode, milliseconds: number): void;
	/** A method, or other work of the process, failed unexpectedly. Never pass arguments or tokens. */
	failed(what: string, error: unknown): void;
}

/** Sets and reads presence. A change also updates the read state and the clients that watch the user. */
export interface PresenceControl {
	setAway(user: string, away: boolean): Promise<unknown>;
	/** Connected and not set to away. */
	isActive(user: string): Promise<boolean>;
	presence(user: string): Promise<PresenceState>;
}

/** The public key for browsers, and the push services that subscriptions may use. */
export interface WebPush {
	/** Base64url: `applicationServerKey`. */
	readonly key: string;
	readonly hosts: AllowedHosts;
}

/** Records and contents of files, with their limits. */
export interface FileServices {
	readonly records: Files;
	readonly contents: FileContents;
	readonly maxFileBytes: number;
	readonly maxTeamBytes: number;
}

/** Everything that methods and sockets use; created once by the composition root. */
export interface Services {
	readonly requests: Requests;
	readonly marking: Marking;
	readonly sync: Sync;
	readonly readState: ReadState;
	readonly views: Pick<Views, 'available' | 'since'>;
	readonly directory: Directory;
	readonly history: History;
	/** Reads what the store has now. Unlike `directory`, it does not wait for effects that are not persisted yet. */
	readonly persistedDirectory: Pick<Directory, 'conversations' | 'members'>;
	/** Members and followers as persisted so far. Read the thread from `history` first: it waits until published effects are persisted. */
	readonly source: Pick<StateSource, 'memberships' | 'follows'>;
	readonly push: PushStore;
	readonly apps: Apps;
	/** Sends actions of users to apps, which have to answer. */
	readonly appRequests: Pick<AppRequests, 'ask'>;
	/** HTTP requests to the URLs of apps. */
	readonly outgoing: Pick<Outgoing, 'post'>;
	readonly search: Search;
	readonly scheduled: Scheduled;
	/** Null: files are disabled. */
	readonly files: FileServices | null;
	/** The configured address at which clients reach this server. */
	readonly publicUrl: string | null;
	/** Null: Web Push is disabled. */
	readonly webPush: WebPush | null;
	readonly bus: Bus;
	readonly auth: Authenticator;
	/** Checks that the other user of a direct message is not deactivated. */
	readonly partners: Pick<DirectPartners, 'check'>;
	readonly teamSecrets: TeamSecrets;
	readonly tickets: Tickets;
	readonly presence: PresenceControl;
	readonly limits: Limits;
	/** Limits requests without a valid token. */
	readonly anonymousLimits: AnonymousLimits;
	readonly bodyMemory: MemoryBudget;
	/** Memory for large answers, and for missed events that resuming clients have not read yet. */
	readonly answerMemory: MemoryBudget;
	/** Limits how many large answers are built at a time. */
	readonly largeReads: FairGate;
	readonly clock: Clock;
	readonly random: RandomBytes;
	readonly verifier: Pick<Verifier, 'verify' | 'verifyUser'>;
	readonly repairer: Pick<Repairer, 'repair'>;
	readonly operations: Operations;
	/** Null: pages of other origins may not call the API. */
	readonly cors: Cors | null;
	readonly version: string;
}

import type { Api } from './api.ts';
import { isSame } from './notifier.ts';
import { sleep } from './platform.ts';
import { SharedMap } from './shared-map.ts';
import type { User } from './types.ts';
import { toUser, type Wire } from './wire.ts';

/**
 * Users of the workspace, loaded on request. The server does not resend events about users after an outage, so after a
 * reconnect every known user is outdated until it is loaded again. Only users that are read are loaded again, one at a
 * time and with pauses, because all clients of a server may reconnect at once.
 *
 * `clock` orders requests and events: an older answer never replaces a newer value.
 */

/** So many of the outdated users that were read wait for a reload: those that were read last. */
const MAX_DUE = 200;
const MAX_PAUSE_MS = 1_000;

export class People {
	readonly known = new SharedMap<string, User>((users) => new ReadMap(users, (id) => this.read(id)));
	/** Users whose request is in flight. */
	private readonly requested = new Set<string>();
	/** All users were requested, so users who join later are added too. */
	private wantsAll = false;
	/** Rises with every event and reconnect. */
	private clock = 0;
	private reconnectedAt = 0;
	/** By user: when the known value was requested, or received with an event. */
	private readonly knownAt = new Map<string, number>();
	/** Outdated users that were read, the last one at the end. */
	private due = new Set<string>();

	constructor(
		private readonly api: Api,
		private readonly changed: () => void,
		/** False while there is no connection: nothing is reloaded until the next reconnect. */
		private readonly isConnected: () => boolean,
	) {}

	user(id: string): User | undefined {
		if (!this.known.has(id) && !this.requested.has(id)) void this.fetch(id);
		this.read(id);
		return this.known.get(id);
	}

	async loadAll(): Promise<void> {
		this.wantsAll = true;
		let at = this.clock;
		for await (const { members } of this.api.pages('users.list', { limit: 1000 })) {
			for (const member of members) this.accept(member, at);
			this.changed();
			at = this.clock;
		}
	}

	/** Applies changes of loaded users. Adds new users if all users were requested. */
	receive({ type, user }: Wire): void {
		if (type !== 'user_change' && type !== 'team_join') return;
		const isWanted = this.wantsAll || this.known.has(user.id) || this.requested.has(user.id);
		if (!isWanted) return;
		this.clock += 1;
		this.accept(user, this.clock);
		this.changed();
	}

	reconnected(): void {
		this.clock += 1;
		this.reconnectedAt = this.clock;
		// Requests of the lost connection may take until their timeout: do not wait for them.
		this.requested.clear();
		this.due = new Set();
		// A new snapshot makes views read the users that they show.
		this.known.renew();
		this.changed();
	}

	private accept(member: Wire, at: number): void {
		const user = toUser(member);
		if (at < (this.knownAt.get(user.id) ?? 0)) return;
		this.knownAt.set(user.id, at);
		if (!isSame(this.known.get(user.id), user)) this.known.set(user.id, user);
	}

	private isOutdated(id: string): boolean {
		return (this.knownAt.get(id) ?? this.clock) < this.reconnectedAt;
	}

	private read(id: string): void {
		if (!this.isOutdated(id)) return;
		const { due } = this;
		if (due.size === 0) void this.reload(due);
		due.delete(id);
		due.add(id);
		if (due.size > MAX_DUE) due.delete(due.keys().next().value as string);
	}

	/** Runs until no user is due. A reconnect starts over with another set. */
	private async reload(due: Set<string>): Promise<void> {
		const { platform } = this.api;
		do {
			await sleep(platform, platform.random() * MAX_PAUSE_MS);
			if (due !== this.due || !this.isConnected()) return;
			const id = [...due].pop() as string;
			if (this.isOutdated(id)) await this.fetch(id);
			// Only now: while the set is not empty, no other reload starts.
			due.delete(id);
		} while (due.size > 0);
	}

	private async fetch(id: string): Promise<void> {
		this.requested.add(id);
		const at = this.clock;
		try {
			this.accept((await this.api.callIdempotent('users.info', { user: id })).user, at);
			this.changed();
		} catch {
			// A view that still shows the user requests the user again when it renders next.
		}
		this.requested.delete(id);
	}
}

/** Reports which users are read by id. Views read from snapshots too, where `client.user` would not notice it. */
class ReadMap extends Map<string, User> {
	constructor(
		users: Iterable<readonly [string, User]>,
		private readonly read: (id: string) => void,
	) {
		super(users);
	}

	override get(id: string): User | undefined {
		this.read(id);
		return super.get(id);
	}
}

import type { Api } from './api.ts';
import { SharedMap } from './shared-map.ts';
import type { User } from './types.ts';
import { toUser, type Wire } from './wire.ts';

/** Users of the workspace, loaded on request. */
export class People {
	readonly known = new SharedMap<string, User>();
	private readonly requested = new Set<string>();
	/** All users were requested, so users who join later are added too. */
	private wantsAll = false;

	constructor(
		private readonly api: Api,
		private readonly changed: () => void,
	) {}

	user(id: string): User | undefined {
		const user = this.known.get(id);
		if (!user && !this.requested.has(id)) void this.fetch(id);
		return user;
	}

	async loadAll(): Promise<void> {
		this.wantsAll = true;
		for await (const { members } of this.api.pages('users.list', { limit: 1000 })) {
			for (const member of members) this.known.set(member.id, toUser(member));
			this.changed();
		}
	}

	/** Applies changes of loaded users. Adds new users if all users were requested. */
	receive(event: Wire): void {
		const isWanted =
			event.type === 'user_change'
				? this.known.get(event.user.id) !== undefined
				: event.type === 'team_join' && this.wantsAll;
		if (!isWanted) return;
		this.known.set(event.user.id, toUser(event.user));
		this.changed();
	}

	private async fetch(id: string): Promise<void> {
		this.requested.add(id);
		try {
			this.known.set(id, toUser((await this.api.callIdempotent('users.info', { user: id })).user));
			this.changed();
		} catch {
			// A view that still shows the user requests the user again when it renders next.
			this.requested.delete(id);
		}
	}
}

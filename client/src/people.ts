import type { Api } from './api.ts';
import { pages } from './pages.ts';
import { SharedMap } from './shared-map.ts';
import type { User } from './types.ts';
import { toUser, type Wire } from './wire.ts';

/** The people of the workspace, as far as somebody asked for them. */
export class People {
	readonly known = new SharedMap<string, User>();
	private readonly asked = new Set<string>();

	constructor(
		private readonly api: Api,
		private readonly changed: () => void,
	) {}

	user(id: string): User | undefined {
		const user = this.known.get(id);
		if (!user && !this.asked.has(id)) void this.fetch(id);
		return user;
	}

	async loadAll(): Promise<void> {
		for await (const { members } of pages(this.api, 'users.list', { limit: 1000 })) {
			for (const member of members) this.known.set(member.id, toUser(member));
			this.changed();
		}
	}

	/** Of somebody who is shown. */
	receive(event: Wire): void {
		if (event.type !== 'user_change' || !this.known.get(event.user.id)) return;
		this.known.set(event.user.id, toUser(event.user));
		this.changed();
	}

	private async fetch(id: string): Promise<void> {
		this.asked.add(id);
		try {
			this.known.set(id, toUser((await this.api.ask('users.info', { user: id })).user));
			this.changed();
		} catch {
			// A view that still shows them asks again after the next change.
			this.asked.delete(id);
		}
	}
}

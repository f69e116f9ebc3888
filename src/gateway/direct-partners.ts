import type { Directory } from '../engine/ports/store.ts';
import { ERRORS, Refusal } from '../model/errors.ts';

/**
 * Refuses posts to a direct message whose other person is deactivated: nobody would ever read them.
 *
 * A post needs nothing else from the store, so this never holds one up: what cannot be looked up in a moment is allowed, and
 * that a user is active is cached for a while, or until a deactivation is received.
 */

const BELIEVED_MS = 10_000;
const PATIENCE_MS = 250;
const MOST_KEPT = 10_000;

export class DirectPartners {
	/** By direct message: the other person, who was active, and until when that is believed. */
	private readonly active = new Map<string, { readonly partner: string; readonly until: number }>();
	private readonly underWay = new Map<string, Promise<'active' | 'deactivated'>>();

	constructor(
		private readonly written: Pick<Directory, 'conversations'>,
		private readonly directory: Pick<Directory, 'users'>,
		private readonly nowMs: () => number,
	) {}

	/** Throws `user_disabled`. */
	async check(user: string, channel: string): Promise<void> {
		if (!channel.startsWith('D') || (this.active.get(channel)?.until ?? 0) > this.nowMs()) return;
		const lookUp = this.underWay.get(channel) ?? this.begin(user, channel);
		const found = await Promise.race([lookUp, Bun.sleep(PATIENCE_MS)]);
		if (found === 'deactivated')
			throw new Refusal('user_disabled', 'channel: the other person is deactivated');
	}

	forgetUser(user: string): void {
		for (const [channel, { partner }] of this.active) if (partner === user) this.active.delete(channel);
	}

	forgetAll(): void {
		this.active.clear();
	}

	private begin(user: string, channel: string): Promise<'active' | 'deactivated'> {
		const lookUp = this.lookUp(user, channel)
			.catch((error: unknown) => {
				if (error instanceof Refusal && ERRORS[error.code].retry) return 'active' as const;
				throw error;
			})
			.finally(() => this.underWay.delete(channel));
		this.underWay.set(channel, lookUp);
		return lookUp;
	}

	private async lookUp(user: string, channel: string): Promise<'active' | 'deactivated'> {
		const [conversation] = await this.written.conversations([channel]);
		const people = conversation?.people ?? [];
		const partner = people.find((one) => one !== user);
		// A user who is not a member is rejected elsewhere; a conversation with yourself has no partner.
		if (!people.includes(user) || partner === undefined) return 'active';
		const until = this.nowMs() + BELIEVED_MS;
		const [found] = await this.directory.users([partner]);
		if (found?.deleted) return 'deactivated';
		if (this.active.size >= MOST_KEPT) this.active.clear();
		this.active.set(channel, { partner, until });
		return 'active';
	}
}

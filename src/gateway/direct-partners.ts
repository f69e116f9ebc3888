import type { Directory } from '../engine/ports/store.ts';
import { ERRORS, Rejection } from '../model/errors.ts';
import { SingleFlight } from '../model/single-flight.ts';

/**
 * Rejects posts to a direct message whose other user is deactivated, because nobody would read them.
 *
 * Posting does not otherwise read the store, so this check must not delay it. If the look-up takes too long, the post is allowed. A
 * partner who is not deactivated is cached for a while, or until the gateway receives a deactivation.
 */

const CACHE_MS = 10_000;
const LOOK_UP_TIMEOUT_MS = 250;
const MAX_KEPT = 10_000;

const keyOf = (user: string, channel: string): string => `${user} ${channel}`;

export class DirectPartners {
	/** By user and direct message: the other user, who was not deactivated, and when the entry expires. */
	private readonly allowed = new Map<string, { readonly partner: string; readonly until: number }>();
	private readonly lookUps = new SingleFlight<string, 'allowed' | 'deactivated'>();

	constructor(
		private readonly persistedDirectory: Pick<Directory, 'conversations'>,
		private readonly directory: Pick<Directory, 'users'>,
		private readonly nowMs: () => number,
	) {}

	/** Throws `user_disabled` if the other user is deactivated. */
	async check(user: string, channel: string): Promise<void> {
		if (!channel.startsWith('D') || (this.allowed.get(keyOf(user, channel))?.until ?? 0) > this.nowMs())
			return;
		const lookUp = this.lookUps.run(keyOf(user, channel), () => this.lookUpIfAvailable(user, channel));
		const found = await Promise.race([lookUp, Bun.sleep(LOOK_UP_TIMEOUT_MS)]);
		if (found === 'deactivated')
			throw new Rejection('user_disabled', 'channel: the other user is deactivated');
	}

	forgetUser(user: string): void {
		for (const [key, { partner }] of this.allowed) if (partner === user) this.allowed.delete(key);
	}

	forgetAll(): void {
		this.allowed.clear();
	}

	private lookUpIfAvailable(user: string, channel: string): Promise<'allowed' | 'deactivated'> {
		return this.lookUp(user, channel).catch((error: unknown) => {
			if (error instanceof Rejection && ERRORS[error.code].retry) return 'allowed';
			throw error;
		});
	}

	private async lookUp(user: string, channel: string): Promise<'allowed' | 'deactivated'> {
		const [conversation] = await this.persistedDirectory.conversations([channel]);
		const people = conversation?.people ?? [];
		const partner = people.find((one) => one !== user);
		// The worker rejects a user who is not a member; a conversation with yourself has no partner.
		if (!people.includes(user) || partner === undefined) return 'allowed';
		const until = this.nowMs() + CACHE_MS;
		const [found] = await this.directory.users([partner]);
		if (found?.deleted) return 'deactivated';
		if (this.allowed.size >= MAX_KEPT) this.allowed.clear();
		this.allowed.set(keyOf(user, channel), { partner, until });
		return 'allowed';
	}
}

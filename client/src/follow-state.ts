import type { Api } from './api.ts';
import { ApiError } from './errors.ts';
import { NEVER, type Wire } from './wire.ts';

/**
 * Whether the user follows a thread, and the counts of the thread. The client does not compute them: it fetches them after
 * each change in the thread. Changes during a fetch cause only one more fetch.
 */
export class FollowState {
	isFollowing = false;
	lastRead = NEVER;
	unreadCount = 0;
	mentionCount = 0;
	private inFlight: Promise<void> | undefined;
	/** Number of states that were applied. */
	private applied = 0;
	/** The thread changed after the last fetch. */
	isStale = false;

	constructor(
		private readonly channel: string,
		private readonly threadTs: string,
		private readonly api: Api,
		private readonly changed: () => void,
	) {}

	refresh(): Promise<void> {
		this.isStale = true;
		this.inFlight ??= this.fetch().finally(() => {
			this.inFlight = undefined;
		});
		return this.inFlight;
	}

	/** Applies the answer to a change. If a different state arrived after the request, either may be newer: fetches the state. */
	async applyAnswer(request: Promise<Wire>): Promise<void> {
		const { applied } = this;
		const answer = await request;
		if (this.applied === applied || this.equals(answer)) this.setState(answer);
		else await this.refresh();
	}

	/** Applies the state in an event or answer. A fetch in flight may be older or newer, so it is repeated. */
	setState(received: Wire): void {
		if (this.inFlight) this.isStale = true;
		this.apply(received);
	}

	private equals({ subscription, unread_count: unread, mention_count: mentions }: Wire): boolean {
		return (
			this.isFollowing === subscription.active &&
			this.lastRead === subscription.last_read &&
			this.unreadCount === unread &&
			this.mentionCount === mentions
		);
	}

	private apply({ subscription, unread_count: unread, mention_count: mentions }: Wire): void {
		this.applied += 1;
		this.isFollowing = subscription.active;
		this.lastRead = subscription.last_read;
		this.unreadCount = unread;
		this.mentionCount = mentions;
		this.changed();
	}

	private async fetch(): Promise<void> {
		while (this.isStale) {
			this.isStale = false;
			try {
				const thread = { channel: this.channel, thread_ts: this.threadTs };
				const answer = await this.api.callIdempotent('subscriptions.thread.get', thread);
				if (!this.isStale) this.apply(answer);
			} catch (error) {
				if (!(error instanceof ApiError) || error.code !== 'thread_not_found') {
					this.isStale = true;
					throw error;
				}
				this.apply({
					subscription: { active: false, last_read: NEVER },
					unread_count: 0,
					mention_count: 0,
				});
			}
		}
	}
}

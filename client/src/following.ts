import type { Api } from './api.ts';
import { ApiError } from './errors.ts';
import { NEVER, type Wire } from './wire.ts';

/**
 * Whether the user follows a thread, and what is unread in it. Always as the server counts it: asked again when something
 * happened in the thread, once for all that happened meanwhile.
 */
export class Following {
	isFollowing = false;
	lastRead = NEVER;
	unreadCount = 0;
	mentionCount = 0;
	private underWay: Promise<void> | undefined;
	/** Something happened in the thread that the server was not asked about yet. */
	isStale = false;

	constructor(
		private readonly channel: string,
		private readonly threadTs: string,
		private readonly api: Api,
		private readonly changed: () => void,
	) {}

	refresh(): Promise<void> {
		this.isStale = true;
		this.underWay ??= this.ask().finally(() => {
			this.underWay = undefined;
		});
		return this.underWay;
	}

	setState({ subscription, unread_count: unread, mention_count: mentions }: Wire): void {
		this.isFollowing = subscription.active;
		this.lastRead = subscription.last_read;
		this.unreadCount = unread;
		this.mentionCount = mentions;
		this.changed();
	}

	private async ask(): Promise<void> {
		while (this.isStale) {
			this.isStale = false;
			try {
				const thread = { channel: this.channel, thread_ts: this.threadTs };
				const answer = await this.api.ask('subscriptions.thread.get', thread);
				if (!this.isStale) this.setState(answer);
			} catch (error) {
				if (!(error instanceof ApiError) || error.code !== 'thread_not_found') {
					this.isStale = true;
					throw error;
				}
				this.setState({
					subscription: { active: false, last_read: NEVER },
					unread_count: 0,
					mention_count: 0,
				});
			}
		}
	}
}

import type { Bus, BusMessage, Topic } from '../engine/ports/bus.ts';
import type { CommandLog } from '../engine/ports/log.ts';
import { Rejection } from '../model/errors.ts';
import type { Clock } from '../model/ts.ts';
import type { Action, Outcome, Result } from '../sequencer/commands.ts';

/**
 * Appends commands to the log and awaits their outcomes, which workers publish to this gateway's topic. A request
 * without an outcome in time fails with `outcome_unknown`: the change may still happen. While the gateway cannot
 * receive outcomes it appends nothing, so a request that fails then has changed nothing.
 */

export interface Timeouts {
	/** A request without an outcome fails after this time. */
	readonly timeoutMs: number;
	/**
	 * After this time without any outcome, workers count as silent. It is longer than other workers need to take over
	 * from a dead worker, and longer than the rebuild of a Redis node. Requests whose outcomes may have been lost also fail after this
	 * time, because an outcome is published only once.
	 */
	readonly silentMs: number;
	readonly checkEveryMs: number;
}

const TIMEOUTS: Timeouts = { timeoutMs: 30_000, silentMs: 15_000, checkEveryMs: 5_000 };

/** Notified when no worker processes commands, and when one does again. */
export interface WorkerWatch {
	silent(): void;
	answered(): void;
}

/**
 * Limit for posts of one conversation that wait for their outcomes. Slows down a conversation that receives posts
 * faster than its worker decides them, before its backlog delays other conversations of the partition.
 */
export const MAX_POSTS_WAITING = 1_000;
const SLOW_DOWN_SECONDS = 1;

/** Posts of one conversation that wait for their outcomes. */
interface WaitingPosts {
	readonly conversation: string;
	count: number;
}

interface Waiting {
	/** Null: the request is not a post. */
	readonly posts: WaitingPosts | null;
	readonly resolve: (outcome: Outcome) => void;
	readonly since: number;
}

export class Requests {
	/** Acknowledged posts of all kinds: over HTTP, over sockets, scheduled; a retried post counts again. */
	readonly meters = { posts: 0 };
	private readonly waiting = new Map<number, Waiting>();
	/** By conversation. */
	private readonly waitingPosts = new Map<string, WaitingPosts>();
	private nextRequest = 1;
	private isSilent = false;
	/**
	 * When the gateway last could not receive outcomes. Requests from before then may have lost their outcome, so they are no
	 * evidence that workers are silent.
	 */
	private notReceivingAt = Number.NEGATIVE_INFINITY;
	private lastReplyAt = Number.NEGATIVE_INFINITY;
	private readonly topic: Topic;
	private readonly sweeper: ReturnType<typeof setInterval>;

	constructor(
		private readonly log: CommandLog,
		private readonly bus: Bus,
		private readonly gateway: string,
		private readonly clock: Clock,
		private readonly watch?: WorkerWatch,
		private readonly timeouts = TIMEOUTS,
	) {
		this.topic = `gateway:${gateway}`;
		bus.subscribe(this.topic, this.receive);
		// One timer for all requests: a timer for each would cost more than the request.
		this.sweeper = setInterval(() => this.sweep(), timeouts.checkEveryMs);
		this.sweeper.unref?.();
	}

	/**
	 * Submits the action to the worker that owns the conversation, and returns the result. Throws a Rejection if the
	 * worker rejects the action.
	 */
	async submit(
		actor: { readonly user: string; readonly team: string },
		conversation: string,
		action: Action,
	): Promise<Result> {
		if (!this.bus.isReceiving(this.topic))
			throw new Rejection(
				'service_unavailable',
				'the gateway cannot receive the outcome now; nothing was changed',
			);
		const posts = action.type === 'post' ? this.postsOf(conversation) : null;
		if (posts && posts.count >= MAX_POSTS_WAITING)
			throw new Rejection(
				'ratelimited',
				'posts to this conversation arrive faster than the server can process them; nothing was posted',
				SLOW_DOWN_SECONDS,
			);
		const request = this.nextRequest;
		this.nextRequest += 1;
		const outcome = await new Promise<Outcome>((resolve, reject) => {
			this.begin(request, { posts, resolve, since: performance.now() });
			this.log
				.append({
					command: { conversation, actor: actor.user, team: actor.team, at: this.clock.next(), action },
					replyTo: { gateway: this.gateway, request, together: true },
				})
				.catch((error) => {
					this.end(request);
					reject(error);
				});
		});
		if (!outcome.ok) throw new Rejection(outcome.error, outcome.detail);
		if (action.type === 'post') this.meters.posts += 1;
		return outcome.result;
	}

	/** Outcomes may have been lost: the requests that are waiting at this moment fail after `silentMs`. */
	expireWaiting(): void {
		const expiring = [...this.waiting.keys()];
		if (expiring.length > 0)
			setTimeout(() => {
				for (const request of expiring) this.giveUp(request);
			}, this.timeouts.silentMs).unref();
	}

	close(): void {
		clearInterval(this.sweeper);
		this.bus.unsubscribe(this.topic, this.receive);
	}

	private readonly receive = (message: BusMessage): void => {
		if (message.type === 'lost') this.expireWaiting();
		if (message.type !== 'reply' && message.type !== 'replies') return;
		this.lastReplyAt = performance.now();
		const replies = message.type === 'reply' ? [message] : message.replies;
		for (const { request, outcome } of replies) this.end(request)?.resolve(outcome);
		this.noLongerSilent();
	};

	private noLongerSilent(): void {
		if (!this.isSilent) return;
		this.isSilent = false;
		this.watch?.answered();
	}

	private begin(request: number, waiting: Waiting): void {
		this.waiting.set(request, waiting);
		const { posts } = waiting;
		if (!posts) return;
		posts.count += 1;
		if (posts.count === 1) this.waitingPosts.set(posts.conversation, posts);
	}

	private postsOf(conversation: string): WaitingPosts {
		return this.waitingPosts.get(conversation) ?? { conversation, count: 0 };
	}

	private end(request: number): Waiting | undefined {
		const waiting = this.waiting.get(request);
		if (!waiting) return undefined;
		this.waiting.delete(request);
		const { posts } = waiting;
		if (!posts) return waiting;
		posts.count -= 1;
		if (posts.count === 0) this.waitingPosts.delete(posts.conversation);
		return waiting;
	}

	private sweep(): void {
		const now = performance.now();
		if (!this.bus.isReceiving(this.topic)) this.notReceivingAt = now;
		const [oldest] = this.waiting.values();
		// Any reply proves that workers are running: a single missing reply may have been lost.
		const silentForMs = oldest ? now - Math.max(oldest.since, this.notReceivingAt, this.lastReplyAt) : 0;
		if (silentForMs > this.timeouts.silentMs && !this.isSilent) {
			this.isSilent = true;
			this.watch?.silent();
		}
		const tooOld = now - this.timeouts.timeoutMs;
		for (const [request, { since }] of this.waiting) {
			if (since > tooOld) break;
			this.giveUp(request);
		}
		// Without waiting requests nothing shows whether workers are silent: end the report.
		if (this.waiting.size === 0) this.noLongerSilent();
	}

	private giveUp(request: number): void {
		const waiting = this.end(request);
		const reason =
			waiting && waiting.since < this.notReceivingAt
				? 'the gateway could not receive the outcome'
				: 'no worker answered in time';
		waiting?.resolve({
			ok: false,
			error: 'outcome_unknown',
			detail: `${reason}; the change may still happen`,
		});
	}
}

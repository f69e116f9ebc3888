import type { Scheduled, ScheduledMessage } from '../engine/ports/scheduled.ts';
import type { Directory } from '../engine/ports/store.ts';
import { ERRORS, isInternalError, Rejection } from '../model/errors.ts';
import { PeriodicJob } from '../model/periodic-job.ts';
import type { DirectPartners } from './direct-partners.ts';
import type { Requests } from './requests.ts';

/**
 * Posts scheduled messages when they are due. Every gateway looks for due messages, and takes a lease of each one before it posts
 * it: once a gateway has dropped a message, no other gateway posts it. The message's id is its client_msg_id, so posting
 * it twice creates one message: if a gateway dies between posting and removing, another one posts it again when the lease
 * ends. A message that can no longer be posted (conversation archived or left, user or partner deactivated) is dropped.
 * So is a message that a worker fails to post for an hour, with a log line.
 */

const POLL_EVERY_MS = 1_000;
const BATCH_SIZE = 20;
/** Bounds the load while no message can be posted. */
const MAX_LEFT_OVER = 200;
/** A message with which a worker still fails after this time would fail for ever, and hold back its conversation. */
const RETRY_INTERNAL_ERROR_MS = 3_600_000;
/** Longer than a post can wait for its outcome. */
const LEASE_MS = 60_000;

export interface ScheduledPostsParts {
	readonly scheduled: Pick<Scheduled, 'due' | 'lease' | 'release' | 'remove'>;
	readonly requests: Pick<Requests, 'submit'>;
	readonly directory: Pick<Directory, 'users'>;
	readonly partners: Pick<DirectPartners, 'check'>;
	/** Id of this gateway. */
	readonly gateway: string;
	/** Wall clock. */
	readonly nowMs: () => number;
	readonly failed: (error: unknown) => void;
}

export class ScheduledPosts {
	private readonly job: PeriodicJob;
	/** Number of messages that the last round could not post. The next round reads as many more, so that they do not block others. */
	private leftOver = 0;

	constructor(private readonly parts: ScheduledPostsParts) {
		this.job = new PeriodicJob(POLL_EVERY_MS, () => this.postDue(), parts.failed);
	}

	stop(): Promise<void> {
		return this.job.stop();
	}

	/** Posts to conversations concurrently: one that is stuck must not hold back others. */
	private async postDue(): Promise<void> {
		const { scheduled, nowMs } = this.parts;
		const limit = BATCH_SIZE + Math.min(this.leftOver, MAX_LEFT_OVER);
		const due = await scheduled.due(Math.floor(nowMs() / 1000), limit);
		this.leftOver = due.length;
		const conversations = Map.groupBy(due, ({ conversation }) => conversation).values();
		const results = await Promise.allSettled(conversations.map((messages) => this.postInOrder(messages)));
		const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
		const unexpected = errors.find(isInternalError);
		if (unexpected) throw unexpected;
	}

	private async postInOrder(messages: readonly ScheduledMessage[]): Promise<void> {
		for (const message of messages) {
			const { scheduled, nowMs, gateway } = this.parts;
			const lease = await scheduled.lease(message.id, gateway, nowMs(), nowMs() + LEASE_MS);
			// Later messages of the conversation must not overtake the one that another gateway is posting.
			if (lease === 'held') return;
			if (lease === 'leased') await this.postOrDrop(message);
			this.leftOver -= 1;
		}
	}

	private async postOrDrop(message: ScheduledMessage): Promise<void> {
		const { scheduled, gateway } = this.parts;
		try {
			await this.post(message);
		} catch (error) {
			// The post may succeed later, or may have succeeded: the next round of any gateway posts the message again, without creating a duplicate.
			if (!this.isFinal(error, message)) {
				// If the store is unavailable, the lease ends by itself.
				await scheduled.release(message.id, gateway).catch(() => undefined);
				throw error;
			}
		}
		await scheduled.remove(message.id);
	}

	private async post({ id, user, team, conversation, content }: ScheduledMessage): Promise<void> {
		const { requests, directory, partners } = this.parts;
		const { text, extra, threadTs, broadcast } = content;
		const [author] = await directory.users([user]);
		if (!author || author.deleted) return;
		await partners.check(user, conversation);
		const action = { type: 'post', content: { text, extra }, threadTs, broadcast, clientMsgId: id } as const;
		await requests.submit({ user, team }, conversation, action);
	}

	private isFinal(error: unknown, { id, conversation, postAt }: ScheduledMessage): boolean {
		const { failed, nowMs } = this.parts;
		if (!(error instanceof Rejection) || ERRORS[error.code].retry || error.code === 'outcome_unknown')
			return false;
		if (error.code !== 'internal_error') return true;
		const isTooOld = nowMs() - postAt * 1000 > RETRY_INTERNAL_ERROR_MS;
		if (isTooOld)
			failed(
				new Error(
					`Scheduled message ${id} in ${conversation} was dropped: workers fail to post it, and their log has the cause`,
				),
			);
		return isTooOld;
	}
}

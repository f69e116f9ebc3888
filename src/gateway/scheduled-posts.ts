import type { Scheduled, ScheduledMessage } from '../engine/ports/scheduled.ts';
import type { Directory } from '../engine/ports/store.ts';
import { ERRORS, isInternalError, Rejection } from '../model/errors.ts';
import { PeriodicJob } from '../model/periodic-job.ts';
import type { DirectPartners } from './direct-partners.ts';
import type { Requests } from './requests.ts';

/**
 * Posts scheduled messages when they are due. Every gateway looks for due messages. The message's id is its
 * client_msg_id, so posting it twice creates one message: no gateway has to own a scheduled message, and a crash
 * between posting and removing is harmless. A message that can no longer be posted (conversation archived or left,
 * user or partner deactivated) is dropped, by the gateway that finds out first. So is a message that a worker fails to post for an hour, with a
 * log line.
 */

const POLL_EVERY_MS = 1_000;
const BATCH_SIZE = 20;
/** Bounds the load while no message can be posted. */
const MAX_LEFT_OVER = 200;
/** A message with which a worker still fails after this time would fail for ever, and hold back its conversation. */
const RETRY_INTERNAL_ERROR_MS = 3_600_000;

export interface ScheduledPostsParts {
	readonly scheduled: Pick<Scheduled, 'due' | 'get' | 'remove'>;
	readonly requests: Pick<Requests, 'submit'>;
	readonly directory: Pick<Directory, 'users'>;
	readonly partners: Pick<DirectPartners, 'check'>;
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
			await this.post(message);
			this.leftOver -= 1;
		}
	}

	private async post(message: ScheduledMessage): Promise<void> {
		const { id, user, team, conversation, content } = message;
		const { scheduled, requests, directory, partners } = this.parts;
		const { text, extra, threadTs, broadcast } = content;
		const [[author], stored] = await Promise.all([directory.users([user]), scheduled.get(id)]);
		// Another gateway has posted or dropped it while this one posted earlier messages of the conversation.
		if (!stored) return;
		if (author && !author.deleted)
			try {
				const action = {
					type: 'post',
					content: { text, extra },
					threadTs,
					broadcast,
					clientMsgId: id,
				} as const;
				await partners.check(user, conversation);
				await requests.submit({ user, team }, conversation, action);
			} catch (error) {
				// The post may succeed later, or may have succeeded: the next round posts the message again, without creating a duplicate.
				if (!this.isFinal(error, message)) throw error;
			}
		await scheduled.remove(id);
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

import type { Scheduled, ScheduledMessage } from '../engine/ports/scheduled.ts';
import type { Directory } from '../engine/ports/store.ts';
import { ERRORS, Rejection } from '../model/errors.ts';
import { PeriodicJob } from './periodic-job.ts';
import type { Requests } from './requests.ts';

/**
 * Posts scheduled messages when they are due. Every gateway looks for due messages. The message's id is its
 * client_msg_id, so posting it twice creates one message: no gateway has to own a scheduled message, and a crash
 * between posting and removing is harmless. A message that can no longer be posted (conversation archived or left,
 * user deactivated) is dropped.
 */

const POLL_EVERY_MS = 1_000;
const BATCH_SIZE = 20;
/** Bounds the load while no message can be posted. */
const MAX_LEFT_OVER = 200;

export interface ScheduledPostsParts {
	readonly scheduled: Pick<Scheduled, 'due' | 'remove'>;
	readonly requests: Pick<Requests, 'submit'>;
	readonly directory: Pick<Directory, 'users'>;
	/** Wall clock. */
	readonly nowMs: () => number;
	readonly failed: (error: unknown) => void;
}

export class ScheduledPosts {
	private readonly job: PeriodicJob;
	/** Number of messages that the last round could not post. The next round reads past them. */
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
		const unexpected = errors.find((error) => !(error instanceof Rejection));
		if (unexpected) throw unexpected;
	}

	private async postInOrder(messages: readonly ScheduledMessage[]): Promise<void> {
		for (const message of messages) {
			await this.post(message);
			this.leftOver -= 1;
		}
	}

	private async post({ id, user, team, conversation, content }: ScheduledMessage): Promise<void> {
		const { scheduled, requests, directory } = this.parts;
		const { text, extra, threadTs, broadcast } = content;
		const [author] = await directory.users([user]);
		if (author && !author.deleted)
			try {
				const action = {
					type: 'post',
					content: { text, extra },
					threadTs,
					broadcast,
					clientMsgId: id,
				} as const;
				await requests.submit({ user, team }, conversation, action);
			} catch (error) {
				// The post may succeed later, or may have succeeded: the next round posts the message again, without creating a duplicate.
				const isFinal =
					error instanceof Rejection && !ERRORS[error.code].retry && error.code !== 'outcome_unknown';
				if (!isFinal) throw error;
			}
		await scheduled.remove(id);
	}
}

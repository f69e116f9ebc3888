import type { Scheduled, ScheduledMessage } from '../engine/ports/scheduled.ts';
import type { Directory } from '../engine/ports/store.ts';
import { ERRORS, Refusal } from '../model/errors.ts';
import type { Requests } from './requests.ts';

/**
 * Posts scheduled messages when their time has come. Every gateway looks for them: the first to find one posts it, and the message's id, which is its
 * client_msg_id, makes every other attempt a repetition that creates nothing. So a gateway that dies between posting and forgetting
 * costs nothing, and no gateway has to own them. A message that cannot be posted any more (archived, left, deactivated) is dropped.
 */

const LOOK_EVERY_MS = 1_000;
const AT_ONCE = 20;

export interface ScheduledPostsParts {
	readonly scheduled: Pick<Scheduled, 'due' | 'remove'>;
	readonly requests: Pick<Requests, 'submit'>;
	readonly directory: Pick<Directory, 'users'>;
	/** The time of day. */
	readonly nowMs: () => number;
	readonly failed: (error: unknown) => void;
}

export class ScheduledPosts {
	private readonly timer: ReturnType<typeof setInterval>;
	private underWay: Promise<void> | null = null;

	constructor(private readonly parts: ScheduledPostsParts) {
		this.timer = setInterval(() => {
			this.underWay ??= this.look()
				.catch((error) => {
					// An unavailable service is reported elsewhere; the post is retried.
					if (!(error instanceof Refusal)) parts.failed(error);
				})
				.finally(() => {
					this.underWay = null;
				});
		}, LOOK_EVERY_MS);
		this.timer.unref?.();
	}

	async stop(): Promise<void> {
		clearInterval(this.timer);
		await this.underWay;
	}

	private async look(): Promise<void> {
		const { scheduled, nowMs } = this.parts;
		for (const message of await scheduled.due(Math.floor(nowMs() / 1000), AT_ONCE))
			try {
				await this.post(message);
			} catch (error) {
				// One conversation that is posted to too fast holds back no other.
				if (!(error instanceof Refusal && error.code === 'ratelimited')) throw error;
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
				// It may succeed later, or may have succeeded: the next look posts it again, which creates nothing twice.
				const isOver =
					error instanceof Refusal && !ERRORS[error.code].retry && error.code !== 'outcome_unknown';
				if (!isOver) throw error;
			}
		await scheduled.remove(id);
	}
}

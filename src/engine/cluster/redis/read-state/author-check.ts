import { isCaughtUp } from '../../../../model/counting.ts';
import type { ConversationScope } from '../../../ports/views.ts';
import type { StepContext } from '../../../read-state/user-steps.ts';
import type { ConversationCopy } from './conversation-copy.ts';
import type { CopiedViews } from './copied-views.ts';

/**
 * Decides, after a batch of effects, whether the authors of its posts had read everything before them. The owner of the conversation
 * usually has a copy that the effects were applied to, so no request to Redis is needed. Loads older entries if a cursor is further back.
 */
export class AuthorCheck {
	private inProgress: Promise<void> | undefined;

	constructor(
		private readonly views: CopiedViews,
		private readonly id: string,
		/** Undefined: no copy is current; null: no such conversation. */
		private copy: ConversationCopy | null | undefined,
		/** Whether the command with this stamp is applied for the first time. */
		readonly isNew: (at: number) => boolean,
	) {}

	/** Calls `how` again after each load, until nothing that it needs is missing. */
	async decide<T>(how: (context: StepContext) => T): Promise<T> {
		for (;;) {
			let missing: ConversationScope | undefined;
			const wasCaughtUp: StepContext['wasCaughtUp'] = (post, root, cursor, ahead) => {
				const { user, ts } = post.message;
				// The common cases: the author has read the previous message; the reply is the only one.
				const hasReadPrevious =
					root === null ? post.prevTs !== null && cursor >= post.prevTs : post.thread?.replyCount === 1;
				if (hasReadPrevious && cursor <= ts) return true;
				const { copy, id } = this;
				if (copy === null) return false;
				const timeline = root === null ? copy?.timeline : copy?.threads.get(root);
				const answer =
					timeline && isCaughtUp(timeline, { number: copy?.numbering.of(user) ?? 0, cursor, ahead }, ts);
				if (answer === undefined)
					missing = { id, after: timeline ? cursor : null, threads: root === null ? [] : [root] };
				return answer ?? false;
			};
			const decided = how({ wasCaughtUp, isNew: ({ at }) => this.isNew(at) });
			if (!missing) return decided;
			this.inProgress ??= this.complete(missing).finally(() => {
				this.inProgress = undefined;
			});
			await this.inProgress;
		}
	}

	/** Loads the conversation, the thread, or a chunk of older entries. */
	private async complete({ id, after, threads }: ConversationScope): Promise<void> {
		const { views, copy } = this;
		if (copy && after !== null) await views.conversations.loader.loadSmallChunk(copy, after);
		this.copy = await views.conversation({ id, after: null, threads }, copy ?? undefined);
	}
}

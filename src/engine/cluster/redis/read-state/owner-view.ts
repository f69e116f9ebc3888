import { isCaughtUp } from '../../../../model/counting.ts';
import type { Wanted } from '../../../ports/views.ts';
import type { ConversationCopy } from '../views/conversation-copy.ts';
import { NO_THREADS } from '../views/conversation-views.ts';
import type { CopiedViews } from '../views/views.ts';
import type { WasCaughtUp } from './user-changes.ts';

/**
 * A conversation as its owner has it after a batch of effects: mostly in a copy that the effects were taken into, so that Redis need
 * not be asked whether authors were caught up. It is brought further back where an author's cursor is.
 */
export class OwnerView {
	private underWay: Promise<void> | undefined;
	/** The copy has what Redis has after this ts. */
	private asked = Number.POSITIVE_INFINITY;

	constructor(
		private readonly views: CopiedViews,
		private readonly id: string,
		/** Undefined where no copy is up to date; null where there is no such conversation. */
		private copy: ConversationCopy | null | undefined,
	) {}

	/** Decides, again until all that it depends on is loaded. */
	async decide<T>(how: (caughtUp: WasCaughtUp) => T): Promise<T> {
		for (;;) {
			let lacking: Wanted | undefined;
			const decided = how(({ effect: { message, prevTs } }, root, cursor, ahead) => {
				const { user, ts } = message;
				// Mostly the author has read the message before.
				if (root === null && prevTs !== null && cursor >= prevTs && cursor <= ts) return true;
				const { copy, id } = this;
				if (copy === null) return false;
				const timeline = root === null ? copy?.timeline : copy?.threads.get(root);
				const reader = { number: copy?.numbering.of(user) ?? 0, cursor, ahead, activity: NEVER };
				const answer = timeline && isCaughtUp(timeline, reader, ts);
				if (answer === undefined)
					lacking = { id, back: timeline ? cursor : null, threads: root === null ? NO_THREADS : [root] };
				return answer ?? false;
			});
			if (!lacking) return decided;
			this.underWay ??= this.complete(lacking).finally(() => {
				this.underWay = undefined;
			});
			await this.underWay;
		}
	}

	/** A look brings in what Redis has; what lies further back comes from the store. */
	private async complete(wanted: Wanted): Promise<void> {
		const { views, copy } = this;
		const back = wanted.back ?? Number.POSITIVE_INFINITY;
		if (copy && wanted.back !== null && this.asked <= back) await views.reach(copy, back);
		this.asked = Math.min(this.asked, back);
		this.copy = await views.conversation(wanted, copy ?? undefined);
	}
}

const NEVER = { isActiveAt: () => false };

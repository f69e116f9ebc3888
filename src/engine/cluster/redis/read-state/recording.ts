import type { ConversationBrief, StateSource } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import type { EpochToken, Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { nodesOf, slotOf } from '../slots.ts';

/**
 * Begins to record the changes of conversations in Redis. Any process may begin, because effects are applied only to conversations that are
 * recorded: the store has all changes of the others. So beginning never overwrites changes; only a repair does, which gives the
 * conversation a new base.
 */

/** Bounds a query and its pipeline. */
const CONVERSATIONS_PER_CALL = 500;

/** State in Redis before the store was read. */
type ExpectedState = readonly [stamp: string, base: string];
const NOT_RECORDED: ExpectedState = ['', ''];

export class Recording {
	private readonly inProgress = new Map<string, Promise<ReadonlySet<string>>>();
	private readonly nodeOf: (slot: number) => string;

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
	) {
		this.nodeOf = nodesOf(commands);
	}

	/** Begins for conversations that are not recorded, and waits for those in progress. Resolves to those that exist. */
	async begin(conversations: readonly string[]): Promise<ReadonlySet<string>> {
		const fresh = conversations.filter((id) => !this.inProgress.has(id));
		// Grouped by node, so that a lost node does not delay the others.
		for (const ofNode of Map.groupBy(fresh, (id) => this.nodeOf(slotOf(id))).values())
			for (let from = 0; from < ofNode.length; from += CONVERSATIONS_PER_CALL) {
				const some = ofNode.slice(from, from + CONVERSATIONS_PER_CALL);
				const beginning = this.beginTogether(some).finally(() => {
					for (const id of some) this.inProgress.delete(id);
				});
				for (const id of some) this.inProgress.set(id, beginning);
			}
		const found = await Promise.all(conversations.map((id) => this.inProgress.get(id)));
		return new Set(conversations.filter((id, index) => found[index]?.has(id)));
	}

	/** Resolves to those that exist. */
	private async beginTogether(conversations: readonly string[]): Promise<ReadonlySet<string>> {
		const found = new Set<string>();
		await this.fence.load(
			conversations,
			() => this.source.briefs(conversations),
			(briefs, tokenOf) =>
				Promise.all(
					briefs.map((brief) => {
						found.add(brief.id);
						return this.write(brief, tokenOf(brief.id), NOT_RECORDED);
					}),
				),
		);
		return found;
	}

	/** Makes all copies of a conversation outdated, so that they are loaded from the store again. */
	async restart(id: string): Promise<'repaired' | RepairProblem> {
		const [stamp, base] = await this.commands.hmget(this.keys.meta(id), 'stamp', 'base');
		// Not recorded: the next use begins with the state in the store.
		if (stamp == null || base == null) return 'repaired';
		let outcome: 'repaired' | RepairProblem = 'store_behind';
		await this.fence.load(
			[id],
			() => this.source.briefs([id]),
			async ([brief], tokenOf) => {
				if (!brief || brief.stamp < Number(stamp)) return;
				outcome = (await this.write(brief, tokenOf(id), [stamp, base])) ? 'repaired' : 'changing';
			},
		);
		return outcome;
	}

	/** Resolves to false if the state in Redis is not the expected one. */
	private async write(
		{ id, stamp }: ConversationBrief,
		token: EpochToken,
		expected: ExpectedState,
	): Promise<boolean> {
		const { commands, keys, ttlSeconds } = this;
		const stateKeys = [keys.meta(id), keys.recent(id), keys.version(id)];
		return (await commands.recordConversation(...stateKeys, ...token, ttlSeconds, ...expected, stamp)) === 1;
	}
}

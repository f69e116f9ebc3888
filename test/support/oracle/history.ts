/**
 * Random histories. A history is a list of kinds and seeds; resolve.ts decides what each operation refers to, from the
 * oracle's state at that step.
 */

import type { Groups, OperationKind, PlannedOperation } from './operations.ts';
import { Random } from './random.ts';
import type { ConversationKind } from './types.ts';

export interface PlannedConversation {
	readonly name: string;
	readonly type: ConversationKind;
	/** Indexes of users; the first one creates the conversation. */
	readonly members: readonly number[];
	/** When it is created, as a fraction of the history. */
	readonly after: number;
}

export const USER_COUNT = 6;

/** Small on purpose: with few users in few conversations, all rules interact. */
export const CONVERSATIONS: readonly PlannedConversation[] = [
	{ name: 'harbour', type: 'public', members: [0, 1, 2, 3, 4], after: 0 },
	{ name: 'boathouse', type: 'private', members: [1, 2, 3], after: 0 },
	{ name: 'pair', type: 'im', members: [0, 1], after: 0 },
	{ name: 'trio', type: 'mpim', members: [2, 3, 4], after: 0 },
	{ name: 'lighthouse', type: 'public', members: [5, 0], after: 0.3 },
];

export type Weights = Readonly<Record<Exclude<OperationKind, 'create'>, number>>;

export const WEIGHTS: Weights = {
	post: 24,
	reply: 16,
	edit: 8,
	remove: 6,
	mark: 12,
	markUnread: 5,
	markMessage: 8,
	markAllRead: 1,
	mute: 3,
	join: 4,
	leave: 2,
	kick: 1,
	archive: 0.7,
	unarchive: 3,
	follow: 3,
	unfollow: 3,
	markThread: 5,
	markThreadUnread: 3,
	setActive: 4,
};

export interface HistoryOptions extends Partial<Groups> {
	weights?: Partial<Weights>;
}

const WITHOUT_THREADS = { reply: 0, follow: 0, unfollow: 0, markThread: 0, markThreadUnread: 0 };

function weightsFor(groups: Groups, own: Partial<Weights>): Weights {
	return {
		...WEIGHTS,
		...own,
		...(groups.threads ? {} : WITHOUT_THREADS),
		...(groups.subscriptions ? {} : { follow: 0, unfollow: 0 }),
		...(groups.presence ? {} : { setActive: 0 }),
	};
}

/** `length` operations, besides those that create the conversations. All groups are enabled by default. */
export function* randomHistory(
	seed: number,
	length: number,
	options: HistoryOptions = {},
): Generator<PlannedOperation> {
	const { threads = true, mentions = true, subscriptions = true, presence = true, weights = {} } = options;
	const groups: Groups = { threads, mentions, subscriptions, presence };
	const effective = weightsFor(groups, weights);
	const random = new Random(seed);
	let step = 0;
	const plan = (kind: OperationKind): PlannedOperation => {
		step += 1;
		return { history: seed, step, kind, seed: random.below(2 ** 32), groups };
	};
	for (let index = 0; index < length; index += 1) {
		for (const [slot, conversation] of CONVERSATIONS.entries()) {
			if (Math.floor(conversation.after * length) === index) {
				yield { ...plan('create'), slot };
			}
		}
		yield plan(random.weighted(effective));
	}
}

import type { ReadFact } from '../../../ports/facts.ts';
import type { UserReadState } from '../../../ports/store.ts';
import { applySteps, type StampedMembership, type Step } from '../../../read-state/user-steps.ts';
import type { EpochToken } from '../epoch-guard.ts';
import type { AuthorCheck } from './author-check.ts';
import type { Context } from './context.ts';
import { type Fields, followField, membershipFact, membershipField, STAMP, threadFact } from './packing.ts';
import type { UserCopies } from './user-copies.ts';
import { UserDraft } from './user-copy.ts';

/** Applies effects to users in Redis, without copies of them: a worker needs only one conversation of each user. */

/** Rows of the store about users in one conversation. */
export type StoredUsers = () => Promise<ReadonlyMap<string, UserReadState>>;

/** Values of fields in Redis; null for an absent field. */
export type Values = readonly (string | null)[];

export class UserEffects {
	constructor(
		private readonly context: Context,
		private readonly copies: UserCopies,
	) {}

	/** Reads these fields (null: all) unless their values are known; absent fields are omitted. */
	private async read(user: string, names: readonly string[] | null, known?: Values): Promise<Fields> {
		const { commands, keys } = this.context;
		if (!names) return commands.hgetall(keys.fields(user));
		const values = known ?? (await commands.hmget(keys.fields(user), ...names));
		return Object.fromEntries(
			names.flatMap((name, index) => (values[index] == null ? [] : [[name, values[index]]])),
		);
	}

	/** Reads what these steps need. Send it in the same turn as the script that applies the effects: then both share a round trip. */
	readEarly(user: string, steps: readonly Step[]): Promise<Values> {
		const { commands, keys } = this.context;
		const values = commands.hmget(keys.fields(user), ...(fieldsNeededBy(steps) ?? []));
		// If the script fails, nobody awaits this.
		values.catch(() => undefined);
		return values;
	}

	/**
	 * Applies steps in one conversation to a user. Resolves to the cursors that moved. Compares only the fields of this conversation, so that
	 * posts of one author to many conversations do not disturb each other.
	 *
	 * `known`: the values of the fields, read when the effects were applied to the conversation, or (a promise) perhaps before.
	 * Compare-and-set notices a mark since that read. If the steps change nothing, nothing is compared, so early values are read again.
	 */
	async applySteps(
		user: string,
		steps: readonly Step[],
		authors: AuthorCheck,
		stored: StoredUsers,
		token: EpochToken,
		known?: Values | Promise<Values>,
	): Promise<readonly ReadFact[]> {
		const { conversation } = steps[0] as Step;
		const names = fieldsNeededBy(steps);
		// A new follow replaces whatever the store has.
		const begun = steps.flatMap((step) =>
			step.type === 'follow' && authors.isNew(step.at) ? [followField(conversation, step.threadTs)] : [],
		);
		for (let values = known; ; values = undefined) {
			const fields = await this.read(user, names, await values);
			const absent = names?.filter((name) => !(name in fields) && !begun.includes(name));
			const rows = absent?.length === 0 ? undefined : (await stored()).get(user);
			const base = UserDraft.of(conversation, rows, fields);
			const { draft, moved } = await authors.decide((context) => {
				const draft = new UserDraft(base);
				return { draft, moved: applySteps(draft, steps, context) };
			});
			const changed = draft.fields;
			if (Object.keys(changed).length > 0) changed[STAMP] = String(stampOf(draft, steps));
			else if (values instanceof Promise) continue;
			// Fields from the store are set as well: an author who never marks is looked up there only once.
			const found = absent?.length === 0 ? {} : base.fields;
			for (const name of absent ?? []) if (found[name] !== undefined) changed[name] ??= found[name];
			const compared = (names ?? Object.keys(found)).map((name) => [name, fields[name] ?? '']);
			const isSet =
				Object.keys(changed).length === 0 ||
				(await this.copies.setFields(user, Object.fromEntries(compared), changed, token)) !== '';
			if (!isSet) continue;
			const cursors = new Set(moved.map(({ threadTs }) => threadTs));
			return [...cursors].flatMap((threadTs) => factOf(user, conversation, threadTs, draft) ?? []);
		}
	}
}

/** Stamp of the newest change; the script makes it later than every change so far. */
const stampOf = (draft: UserDraft, steps: readonly Step[]): number =>
	Math.max(draft.newest, ...steps.map((step) => (step.type === 'post' ? 0 : step.at)));

/** Fields that these steps change or depend on; null: all. */
export function fieldsNeededBy(steps: readonly Step[]): string[] | null {
	const names = new Set<string>();
	for (const step of steps) {
		// Leaving ends all follows in the conversation.
		if (step.type === 'leave') return null;
		const { conversation } = step;
		const target = step.type === 'post' ? step.effect.message : step;
		const threadTs = 'threadTs' in target ? target.threadTs : null;
		// Broadcast replies are in the timeline too.
		const isInTimeline = threadTs === null || ('broadcast' in target && target.broadcast);
		if (isInTimeline) names.add(membershipField(conversation));
		if (threadTs !== null) names.add(followField(conversation, threadTs));
	}
	return [...names];
}

/** The cursor of a user: in a conversation, or in a thread. Null if the user does not follow the thread any more. */
function factOf(
	user: string,
	conversation: string,
	threadTs: number | null,
	draft: UserDraft,
): ReadFact | null {
	if (threadTs === null)
		return membershipFact('cursor', user, conversation, draft.membership(conversation) as StampedMembership);
	const follow = draft.follow(conversation, threadTs);
	return follow ? threadFact(user, conversation, threadTs, follow) : null;
}

import type { ReadFact } from '../../../ports/facts.ts';
import type { StateSource, UserReadState } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import { applySteps, type StampedMembership, type Step } from '../../../read-state/user-steps.ts';
import type { Commands } from '../connection.ts';
import type { EpochToken, Fence } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { slotOf } from '../slots.ts';
import type { AuthorCheck } from './author-check.ts';
import {
	type Fields,
	followField,
	membershipFact,
	membershipField,
	STAMP,
	STORED,
	threadFact,
	unpackMembership,
} from './packing.ts';
import { storedFields } from './stored-fields.ts';
import type { UserCopies } from './user-copies.ts';
import { UserDraft } from './user-copy.ts';

/** Applies effects to users in Redis, without copies of them: a worker needs only one conversation of each user. */

/** Rows of the store about users in one conversation. */
export type StoredUsers = () => Promise<ReadonlyMap<string, UserReadState>>;

/** Fields of a user in Redis: those that a change needs, or all. */
type UserFields = Fields & { readonly version?: string };

export class UserEffects {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly copies: UserCopies,
		private readonly fence: Fence,
	) {}

	/** Reads these fields (null: all); absent fields are omitted. */
	async read(user: string, names: readonly string[] | null): Promise<UserFields> {
		const key = this.keys.fields(user);
		if (!names) return this.commands.hgetall(key);
		const wanted = ['version', STAMP, ...names];
		const values = await this.commands.hmget(key, ...wanted);
		const found = wanted.map((name, index) => [name, values[index]] as const);
		return Object.fromEntries(found.filter((pair): pair is [string, string] => pair[1] != null));
	}

	/** Memberships that have changed lately; the store is current for the others. */
	async changedIn(conversation: string, users: readonly string[]): Promise<Map<string, StampedMembership>> {
		const field = membershipField(conversation);
		const packed = await Promise.all(users.map((user) => this.commands.hget(this.keys.fields(user), field)));
		const found = new Map<string, StampedMembership>();
		for (const [index, user] of users.entries()) {
			const value = packed[index];
			if (value) found.set(user, unpackMembership(value));
		}
		return found;
	}

	/**
	 * Applies steps in one conversation to a user. Resolves to the cursors that moved. Compares only the fields of this conversation, so that
	 * posts of one author to many conversations do not disturb each other.
	 *
	 * `early`: the fields, read before the effects were applied to the conversation. Compare-and-set notices a mark since that read.
	 * Without a set nothing would notice it, so the fields are read again.
	 */
	async applySteps(
		user: string,
		steps: readonly Step[],
		view: AuthorCheck,
		stored: StoredUsers,
		token: EpochToken,
		early?: Promise<UserFields>,
	): Promise<readonly ReadFact[]> {
		const { conversation } = steps[0] as Step;
		const names = fieldsNeededBy(steps, view.isNew);
		for (let known = early; ; known = undefined) {
			const fields = await (known ?? this.read(user, names));
			const absent = names?.filter((name) => !(name in fields));
			const rows = absent?.length === 0 ? undefined : (await stored()).get(user);
			const base = UserDraft.of(conversation, rows, fields);
			const { draft, moved } = await view.decide((context) => {
				const draft = new UserDraft(base);
				return { draft, moved: applySteps(draft, steps, context) };
			});
			const changed = draft.fields;
			const isChanged = Object.keys(changed).length > 0;
			if (known && !isChanged) continue;
			// Fields from the store are set as well: an author who never marks is looked up there only once.
			const found = absent?.length === 0 ? {} : base.fields;
			for (const name of absent ?? []) if (found[name] !== undefined) changed[name] ??= found[name];
			if (isChanged) changed[STAMP] = String(stampOf(draft, steps));
			const compared = (names ?? Object.keys(found)).map((name) => [name, fields[name] ?? '']);
			const isSet =
				Object.keys(changed).length === 0 ||
				(await this.copies.setFields(user, Object.fromEntries(compared), changed, token)) !== '';
			if (!isSet) continue;
			const cursors = new Set(moved.map(({ threadTs }) => threadTs));
			return [...cursors].flatMap((threadTs) => factOf(user, conversation, threadTs, draft) ?? []);
		}
	}

	/**
	 * Replaces the user's state in this conversation with the state in the store: reads Redis, then the store, and sets the fields if Redis
	 * is unchanged. `longAgo`: the store has every change from before this stamp.
	 */
	async reload(user: string, conversation: string, longAgo: number): Promise<'repaired' | RepairProblem> {
		const { commands, keys, source, fence } = this;
		const point = await fence.begin([user, conversation]);
		const fields = await this.read(user, null);
		// After the fields: if the store has this stamp, it has what effects did to them.
		const stamp = await commands.hget(keys.meta(conversation), 'stamp');
		const [brief] = await source.briefs([conversation]);
		if ((brief?.stamp ?? 0) < Number(stamp)) return 'store_behind';
		const rows = await source.user(user);
		await fence.verifyEpochs(point);
		const { behind, uncertainUpTo, changed } = storedFields(fields, rows, conversation);
		if (behind || (uncertainUpTo !== null && uncertainUpTo > longAgo)) return 'store_behind';
		if (Object.keys(changed).length === 0) return 'repaired';
		const newer = { ...changed, [STAMP]: String(rows.stamp) };
		const version = fields.version ?? STORED;
		const isSet = await this.copies.setFields(user, version, newer, point.tokenOf(slotOf(user)));
		return isSet === '' ? 'changing' : 'repaired';
	}
}

/** Stamp of the newest change; the script makes it later than every change so far. */
const stampOf = (draft: UserDraft, steps: readonly Step[]): number =>
	Math.max(draft.newest, ...steps.map((step) => (step.type === 'post' ? 0 : step.at)));

/** Fields that these steps depend on; null: all. `isNew`: whether the command with this stamp is applied for the first time. */
export function fieldsNeededBy(
	steps: readonly Step[],
	isNew: (at: number) => boolean = () => false,
): string[] | null {
	const names = new Set<string>();
	// A new follow replaces whatever was there, so its field need not be read.
	const begun = steps.flatMap((step) => (step.type === 'follow' && isNew(step.at) ? [step.threadTs] : []));
	for (const step of steps) {
		// Leaving ends all follows in the conversation.
		if (step.type === 'leave') return null;
		const { conversation } = step;
		const target = step.type === 'post' ? step.effect.message : step;
		const threadTs = 'threadTs' in target ? target.threadTs : null;
		// Broadcast replies are in the timeline too.
		const isInTimeline = threadTs === null || ('broadcast' in target && target.broadcast);
		if (isInTimeline) names.add(membershipField(conversation));
		if (threadTs !== null && !begun.includes(threadTs)) names.add(followField(conversation, threadTs));
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

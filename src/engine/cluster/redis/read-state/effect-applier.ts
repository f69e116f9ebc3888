import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { StateSource } from '../../../ports/store.ts';
import type { RepairProblem } from '../../../ports/views.ts';
import { changesOf, effectsByCommand } from '../../../read-state/changes.ts';
import { type Step, stepsOf } from '../../../read-state/user-steps.ts';
import { slotOf } from '../slots.ts';
import { AuthorCheck } from './author-check.ts';
import type { Context } from './context.ts';
import type { CopiedViews } from './copied-views.ts';
import { packChanges, STORED } from './packing.ts';
import { fieldsNeededBy, type StoredUsers, type UserEffects, type Values } from './user-effects.ts';

/** Limits the size of a pipeline. */
const USERS_PER_PIPELINE = 500;

type UserSteps = readonly [user: string, steps: readonly Step[]];

/**
 * Applies effects to Redis: first to the conversation, all in one script, then to the users they concern,
 * each with all of their steps. Applying effects again, wholly or in part, gives the same result.
 *
 * A batch of posts takes two round trips, whatever its size: one applies them and reads the authors' fields, one moves the
 * authors' cursors. The script that applies them also reads the authors on its node.
 */
export class EffectApplier {
	constructor(
		private readonly context: Context,
		private readonly users: UserEffects,
		private readonly views: CopiedViews,
	) {}

	/** Applies effects on one conversation, in order. Resolves to the cursors that moved. */
	async apply(
		conversation: string,
		effects: readonly Effect[],
		stored: number,
	): Promise<readonly ReadFact[]> {
		const facts: ReadFact[] = [];
		for (const part of splitBeforeDeletes(effects)) {
			const apply = (isRetry: boolean) => this.applyPart(conversation, part, stored, isRetry);
			facts.push(...(await this.context.guard.retrying(apply)));
		}
		return facts;
	}

	private async applyPart(
		conversation: string,
		effects: readonly Effect[],
		stored: number,
		isRetry: boolean,
	): Promise<readonly ReadFact[]> {
		const { users, views } = this;
		const { guard, source } = this.context;
		const steps = [...stepsOf(effects)];
		const ids = steps.map(([user]) => user);
		const point = await guard.begin([conversation, ...ids]);
		const markerOf = (id: string): string => point.tokenOf(slotOf(id))[0];
		const inScript: UserSteps[] = [];
		const known = new Map<string, Values | Promise<Values>>();
		for (const [user, all] of steps) {
			if (all.some(({ type }) => type !== 'post' && type !== 'follow')) continue;
			// The script fails while the slot of such a user is moving, so a retry reads each user with a command.
			if (markerOf(user) === markerOf(conversation) && !isRetry) inScript.push([user, all]);
			else known.set(user, users.readEarly(user, all));
		}
		const { isNew, values } = await this.applyToConversation(conversation, effects, stored, inScript);
		for (const [index, [user]] of inScript.entries()) known.set(user, values[index] ?? []);
		const copy = views.currentOf(conversation, effects.at(-1)?.at ?? 0);
		if (!copy) views.warm(conversation);
		const authors = new AuthorCheck(views, conversation, copy, isNew);
		// Nobody was a member of a new conversation before.
		const isCreated = effects[0]?.type === 'created' && isNew(effects[0].at);
		let read: ReturnType<StateSource['usersIn']> | undefined;
		const rows: StoredUsers = () => {
			read ??= isCreated ? Promise.resolve(new Map()) : source.usersIn(conversation, ids);
			return read;
		};
		const applyTo = ([user, all]: UserSteps) =>
			users.applySteps(user, all, authors, rows, point.tokenOf(slotOf(user)), known.get(user));
		const facts: ReadFact[] = [];
		for (let from = 0; from < steps.length; from += USERS_PER_PIPELINE)
			facts.push(...(await Promise.all(steps.slice(from, from + USERS_PER_PIPELINE).map(applyTo))).flat());
		await guard.verify(point);
		return facts;
	}

	/** Appends the changes to Redis, and reads what these users need. `isNew`: the command with this stamp was not applied before. */
	private async applyToConversation(
		conversation: string,
		effects: readonly Effect[],
		stored: number,
		users: readonly UserSteps[],
	): Promise<{ isNew: (at: number) => boolean; values: readonly Values[] }> {
		const { guard, keys, ttlSeconds, keptChanges } = this.context;
		const commands = effectsByCommand(effects).map(changesOf);
		const reads = users.map(([user, steps]) => [keys.fields(user), ...(fieldsNeededBy(steps) ?? [])]);
		for (;;) {
			const { tokenOf } = await guard.begin([conversation]);
			const answer = (await this.context.commands.apply(
				...keys.recorded(conversation),
				...tokenOf(slotOf(conversation)),
				ttlSeconds,
				effects[0]?.type === 'created' ? 1 : 0,
				stored,
				keptChanges,
				JSON.stringify(reads),
				...commands.flatMap(({ stamp, changes }) => [stamp, packChanges(changes)]),
			)) as Partial<[before: string, base: string, seen: string, late: string, values: Values[]]>;
			const [before, base = '', seen, late, values = []] = answer;
			if (before !== undefined) {
				const applied = { before: Number(before), base, seen: Number(seen), late: Number(late), stored };
				this.views.advance(conversation, applied, commands);
				return { isNew: (at) => at > applied.before, values };
			}
			if ((await this.record(conversation, STORED, false)) === 'store_behind')
				throw new Error(
					`cannot apply an effect to ${conversation}: the store does not have the conversation. It may have lost transactions; the worker retries`,
				);
		}
	}

	/** Makes all copies of a conversation outdated, so that they are loaded from the store again. */
	async repair(conversation: string): Promise<'repaired' | RepairProblem> {
		const { commands, keys } = this.context;
		const [stamp, base] = await commands.hmget(keys.meta(conversation), 'stamp', 'base');
		const outcome = await this.record(conversation, stamp == null ? STORED : `${stamp}:${base}`, true);
		return outcome === 'recorded' ? 'repaired' : outcome;
	}

	/** Begins to record changes after those in the store, if the conversation still has this version in Redis. */
	private async record(
		conversation: string,
		version: string,
		isRepair: boolean,
	): Promise<'recorded' | RepairProblem> {
		const { commands, keys, source, guard, ttlSeconds } = this.context;
		const { tokenOf } = await guard.begin([conversation]);
		const [brief] = await source.briefs([conversation]);
		const recorded = version === STORED ? 0 : Number.parseInt(version, 10);
		if (!brief || brief.stamp < recorded) return 'store_behind';
		const isSet = await commands.recordConversation(
			...keys.recorded(conversation),
			...tokenOf(slotOf(conversation)),
			ttlSeconds,
			version,
			brief.stamp,
			isRepair ? 1 : 0,
		);
		return isSet === 1 ? 'recorded' : 'changing';
	}
}

/**
 * Begins a new part at a delete that follows a post. Whether the post's author was caught up is decided on the timeline as it is after
 * the whole part: in the same part, the deleted message would already be missing there.
 */
function splitBeforeDeletes(effects: readonly Effect[]): Effect[][] {
	const parts: Effect[][] = [[]];
	for (const effect of effects) {
		const part = parts.at(-1) as Effect[];
		if (effect.type === 'deleted' && part.some(({ type }) => type === 'posted')) parts.push([effect]);
		else part.push(effect);
	}
	return parts;
}

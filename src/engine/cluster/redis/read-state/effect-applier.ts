import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Commands } from '../connection.ts';
import { type EpochToken, type Fence, NO_TOKEN } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { CopiedViews } from '../views/views.ts';
import { type CommandChanges, changesOf, packChanges } from './changes.ts';
import { OwnerView } from './owner-view.ts';
import type { Recording } from './recording.ts';
import { fieldsNeededBy, type Step, stepsOf } from './user-changes.ts';
import type { Fields } from './user-state.ts';
import type { Users } from './users.ts';

/** Limits the size of a pipeline. */
const USERS_PER_PIPELINE = 500;
const MAX_TRACKED = 100_000;

/**
 * Applies effects to Redis: first to the conversation, all in one script, then to the users they concern,
 * each with all of their steps. Applying effects again, wholly or in part, gives the same result.
 *
 * A batch of posts takes two round trips, whatever its size: one applies them and reads the authors' states, one moves the
 * authors' cursors.
 */
export class EffectApplier {
	/** By conversation: the stamp up to which the store has its changes. */
	private readonly written = new Map<string, number>();

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly recording: Recording,
		private readonly users: Users,
		private readonly views: CopiedViews,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
		/** How many changes stay in Redis after the store has them, for copies that lack them. */
		private readonly keptChanges: number,
	) {}

	/** Effects on one conversation, in order. */
	async apply(conversation: string, effects: readonly Effect[]): Promise<readonly ReadFact[]> {
		const facts: (readonly ReadFact[])[] = [];
		for (const part of splitBeforeDeletes(effects)) facts.push(await this.applyPart(conversation, part));
		return facts.flat();
	}

	private async applyPart(conversation: string, effects: readonly Effect[]): Promise<readonly ReadFact[]> {
		const users = stepsOf(effects, []);
		const fencePoint = await this.fence.begin([conversation, ...users.keys()]);
		const read = this.readAuthors(users);
		const results = await this.applyToConversation(conversation, effects);
		const copy = this.views.currentOf(conversation, effects.at(-1)?.at ?? 0);
		if (!copy) this.views.warm(conversation);
		const view = new OwnerView(this.views, conversation, copy);
		const all = [...stepsOf(effects, results)];
		const facts: (readonly ReadFact[])[] = [];
		for (let from = 0; from < all.length; from += USERS_PER_PIPELINE)
			facts.push(
				...(await Promise.all(
					all
						.slice(from, from + USERS_PER_PIPELINE)
						.map(([user, steps]) => this.users.applySteps(user, steps, view, read.get(user))),
				)),
			);
		await this.fence.verify(fencePoint);
		return facts.flat();
	}

	/**
	 * Reads authors in the same turn as the script runs, so that both share a round trip. An author whose cursor does not move is read
	 * again (see Users.applySteps). Skipped for users whom the batch also makes join, leave or follow: most of them are not
	 * loaded.
	 */
	private readAuthors(users: ReadonlyMap<string, readonly Step[]>): ReadonlyMap<string, Promise<Fields>> {
		const read = new Map<string, Promise<Fields>>();
		for (const [user, steps] of users) {
			if (steps.some(({ type }) => type !== 'post')) continue;
			const fields = this.users.read(user, fieldsNeededBy(steps));
			// If the script fails, nobody awaits this.
			fields.catch(() => undefined);
			read.set(user, fields);
		}
		return read;
	}

	/** Appends the changes to Redis. Per effect, 1: applied for the first time. */
	private async applyToConversation(conversation: string, effects: readonly Effect[]): Promise<number[]> {
		const commands = changesOf(effects);
		const written = this.written.get(conversation) ?? 0;
		for (;;) {
			const answer = await this.callScript(conversation, commands, effects[0]?.type === 'created', written);
			const [before = '-', base = '-', seen, late, ...results] = answer;
			if (results.length > 0) {
				const applied = { before, base, seen: Number(seen), late: Number(late), written };
				this.views.advance(conversation, applied, commands);
				const resultOf = new Map(commands.map(({ stamp }, index) => [stamp, Number(results[index])]));
				return effects.map(({ at }) => resultOf.get(at) ?? 0);
			}
			if (!(await this.recording.begin([conversation])).has(conversation))
				throw new Error(
					`cannot apply an effect to ${conversation}: the store does not have the conversation`,
				);
		}
	}

	private async callScript(
		conversation: string,
		changes: readonly CommandChanges[],
		isNew: boolean,
		written: number,
	): Promise<readonly string[]> {
		const { commands, keys, ttlSeconds, fence } = this;
		const stateKeys = [keys.meta(conversation), keys.recent(conversation), keys.version(conversation)];
		const packed = changes.flatMap((command) => [command.stamp, packChanges(command.changes)]);
		const call = async (token: EpochToken) =>
			(await commands.apply(
				...stateKeys,
				...token,
				ttlSeconds,
				isNew ? 1 : 0,
				written,
				this.keptChanges,
				...packed,
			)) as string[];
		if (!isNew) return call(NO_TOKEN);
		// Nothing has to be loaded: creating it is the load.
		let answer: readonly string[] = [];
		await fence.load(
			[conversation],
			async () => undefined,
			async (_, tokenOf) => {
				answer = await call(tokenOf(conversation));
			},
		);
		return answer;
	}

	/** The store has all changes of the conversation up to this stamp: the next script may remove them from Redis. */
	setWritten(conversation: string, stamp: number): void {
		if (this.written.size >= MAX_TRACKED) this.written.clear();
		this.written.set(conversation, stamp);
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

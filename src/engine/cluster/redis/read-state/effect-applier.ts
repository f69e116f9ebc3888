import { inTimeline, type Message } from '../../../../model/message.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Commands } from '../connection.ts';
import { type EpochToken, type Fence, NO_TOKEN } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { CopiedViews } from '../views/views.ts';
import type { Loading } from './loading.ts';
import { OwnerView } from './owner-view.ts';
import { packEntry } from './packing.ts';
import { fieldsNeededBy, type Step, stepsOf } from './user-changes.ts';
import type { Fields } from './user-state.ts';
import type { Users } from './users.ts';

/** Limits the size of a pipeline. */
const USERS_PER_PIPELINE = 500;

/**
 * Applies effects to Redis: first to the conversation, all in one script, then to the users they concern,
 * each with all of their steps. Applying effects again, wholly or in part, gives the same result.
 *
 * A batch of posts takes two round trips, whatever its size: one applies them and reads the authors' states, one moves the
 * authors' cursors.
 */
export class EffectApplier {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly loading: Loading,
		private readonly users: Users,
		private readonly views: CopiedViews,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
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
	 * again (see Users.applySteps). Skipped if the batch also changes members or followers: most of those users are not loaded.
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

	/** Runs the script, loading what it misses, until all effects are applied. Per effect, 1: applied for the first time. */
	private async applyToConversation(conversation: string, effects: readonly Effect[]): Promise<number[]> {
		const { loading } = this;
		const results: number[] = [];
		let newestOther: number | '' = '';
		while (results.length < effects.length) {
			const left = effects.slice(results.length);
			const [before = '-', base = '-', seen, late, ...answer] = await this.callScript(
				conversation,
				left,
				newestOther,
			);
			newestOther = '';
			const done = answer.map(Number).filter((result) => result >= 0);
			results.push(...done);
			const applied = { before, base, seen: Number(seen), late: Number(late) };
			this.views.advance(conversation, applied, left.slice(0, done.length));
			const stopped = done.length < answer.length ? Number(answer.at(-1)) : 0;
			if (stopped === -2) await this.loadThreadsOf(conversation, left.slice(done.length));
			else if (stopped === -3)
				newestOther = await loading.newestBesides(conversation, deletedFirst(left.slice(done.length)));
			else if (stopped === -1 && !(await loading.load([conversation])).has(conversation))
				throw new Error(
					`cannot apply an effect to ${conversation}: the store does not have the conversation`,
				);
		}
		return results;
	}

	private async callScript(
		conversation: string,
		effects: readonly Effect[],
		newestOther: number | '',
	): Promise<readonly string[]> {
		const { commands, keys, ttlSeconds, fence } = this;
		const threads = [...new Set(effects.map(threadOf).filter((ts) => ts !== null))];
		const call = async (token: EpochToken) =>
			(await commands.apply(
				keys.meta(conversation),
				keys.timeline(conversation),
				keys.version(conversation),
				...token,
				ttlSeconds,
				newestOther,
				threads.length,
				...threads.map((ts) => keys.thread(conversation, ts)),
				...effects.flatMap((effect) => scriptArguments(effect, threads)),
			)) as string[];
		if (effects[0]?.type !== 'created') return call(NO_TOKEN);
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

	/** Loads the threads of the first of these effects, and of all effects of the same command. */
	private async loadThreadsOf(conversation: string, effects: readonly Effect[]): Promise<void> {
		const ofCommand = effects.filter(({ at }) => at === effects[0]?.at);
		const threads = new Set(ofCommand.map(threadOf).filter((ts) => ts !== null));
		await Promise.all([...threads].map((ts) => this.loading.loadThread(conversation, ts)));
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

const deletedFirst = (effects: readonly Effect[]): number =>
	effects.find((effect) => effect.type === 'deleted')?.message.ts ?? 0;

const threadOf = (effect: Effect): number | null => messageOf(effect)?.threadTs ?? null;

function messageOf(effect: Effect): Message | null {
	if (effect.type === 'deleted') return effect.previous;
	return effect.type === 'posted' || effect.type === 'edited' ? effect.message : null;
}

const CHANGES = { posted: 'post', edited: 'edit', deleted: 'delete' } as const;

function scriptArguments(effect: Effect, threads: readonly number[]): (string | number)[] {
	const { at, conversation } = effect;
	const archived = conversation.archived ? 1 : 0;
	switch (effect.type) {
		case 'created':
			return [at, 'create', 0, conversation.kind, archived, 0, conversation.team];
		case 'changed':
			return [at, 'settings', 0, '', archived, 0, ''];
		case 'posted':
		case 'edited':
		case 'deleted': {
			const message = messageOf(effect) as Message;
			const thread = message.threadTs === null ? 0 : threads.indexOf(message.threadTs) + 1;
			const isInTimeline = inTimeline(message) ? 1 : 0;
			const isFirst = effect.type === 'posted' && effect.thread?.replyCount === 1;
			return [
				at,
				CHANGES[effect.type],
				message.ts,
				packEntry(message),
				isInTimeline,
				thread,
				isFirst ? 'first' : '',
			];
		}
		default:
			return [at, 'touch', 0, '', 0, 0, ''];
	}
}

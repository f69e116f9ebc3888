import { inTimeline, type Message } from '../../../../model/message.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Commands } from '../connection.ts';
import { type Fence, NO_TOKEN, type Token } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { CopiedViews } from '../views/views.ts';
import type { Loading } from './loading.ts';
import { OwnerView } from './owner-view.ts';
import { packEntry } from './packing.ts';
import { namesOf, type Step, stepsOf } from './user-changes.ts';
import type { Fields } from './user-state.ts';
import type { Users } from './users.ts';

/** Users that are changed at the same time: a pipeline of bounded size. */
const AT_ONCE = 500;

/**
 * Takes the sequencer's effects into Redis: first the conversation, all of them in one script, then the users that they are
 * about, each with all that concerns them. Applying again what was applied, wholly or in part, comes to the same.
 *
 * A batch of posts is two round trips, whatever its size: one applies them and reads where their authors stand, one moves the
 * authors' cursors.
 */
export class Application {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly loading: Loading,
		private readonly users: Users,
		private readonly views: CopiedViews,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
	) {}

	/** Effects on one conversation, in their order. */
	async apply(conversation: string, effects: readonly Effect[]): Promise<readonly ReadFact[]> {
		const facts: (readonly ReadFact[])[] = [];
		for (const part of upToDeletes(effects)) facts.push(await this.applyPart(conversation, part));
		return facts.flat();
	}

	private async applyPart(conversation: string, effects: readonly Effect[]): Promise<readonly ReadFact[]> {
		const users = stepsOf(effects, []);
		const since = await this.fence.since([conversation, ...users.keys()]);
		const read = this.readAuthors(users);
		const results = await this.toConversation(conversation, effects);
		const copy = this.views.currentOf(conversation, effects.at(-1)?.at ?? 0);
		const view = new OwnerView(this.views, conversation, copy);
		const all = [...stepsOf(effects, results)];
		const facts: (readonly ReadFact[])[] = [];
		for (let from = 0; from < all.length; from += AT_ONCE)
			facts.push(
				...(await Promise.all(
					all
						.slice(from, from + AT_ONCE)
						.map(([user, steps]) => this.users.step(user, steps, view, read.get(user))),
				)),
			);
		await this.fence.assured(since);
		return facts.flat();
	}

	/**
	 * Asked in the same turn as the conversation, so that both go out together. Where an author's cursor does not move, it is read
	 * again (see Users.step). Not where the batch changes who is in the conversation or follows a thread: most of those users are not loaded.
	 */
	private readAuthors(users: ReadonlyMap<string, readonly Step[]>): ReadonlyMap<string, Promise<Fields>> {
		const read = new Map<string, Promise<Fields>>();
		for (const [user, steps] of users) {
			if (steps.some(({ type }) => type !== 'post')) continue;
			const fields = this.users.read(user, namesOf(steps));
			// Where the conversation cannot be applied, nobody waits for it.
			fields.catch(() => undefined);
			read.set(user, fields);
		}
		return read;
	}

	/** Runs the script until what it needs is loaded. Of each effect, 1: it was applied for the first time. */
	private async toConversation(conversation: string, effects: readonly Effect[]): Promise<number[]> {
		const { loading } = this;
		const results: number[] = [];
		let below: number | '' = '';
		while (results.length < effects.length) {
			const left = effects.slice(results.length);
			const [before = '-', base = '-', seen, late, ...answer] = await this.callScript(
				conversation,
				left,
				below,
			);
			below = '';
			const done = answer.map(Number).filter((result) => result >= 0);
			results.push(...done);
			const applied = { before, base, seen: Number(seen), late: Number(late) };
			this.views.advance(conversation, applied, left.slice(0, done.length));
			const stopped = done.length < answer.length ? Number(answer.at(-1)) : 0;
			if (stopped === -2) await this.loadThreadsOf(conversation, left.slice(done.length));
			else if (stopped === -3)
				below = await loading.newestBesides(conversation, deletedFirst(left.slice(done.length)));
			else if (stopped === -1 && !(await loading.load([conversation])).has(conversation))
				throw new Error(`an effect on ${conversation}, which the store does not have`);
		}
		return results;
	}

	private async callScript(
		conversation: string,
		effects: readonly Effect[],
		below: number | '',
	): Promise<readonly string[]> {
		const { commands, keys, ttlSeconds, fence } = this;
		const threads = [...new Set(effects.map(threadOf).filter((ts) => ts !== null))];
		const call = async (token: Token) =>
			(await commands.apply(
				keys.meta(conversation),
				keys.timeline(conversation),
				...token,
				ttlSeconds,
				below,
				threads.length,
				...threads.map((ts) => keys.thread(conversation, ts)),
				...effects.flatMap((effect) => scriptArguments(effect, threads)),
			)) as string[];
		if (effects[0]?.type !== 'created') return call(NO_TOKEN);
		// Nothing has to be loaded for it: it is a load by itself.
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

	/** Those that the first of these effects need, and what else the same command did. */
	private async loadThreadsOf(conversation: string, effects: readonly Effect[]): Promise<void> {
		const ofOne = effects.filter(({ at }) => at === effects[0]?.at);
		const threads = new Set(ofOne.map(threadOf).filter((ts) => ts !== null));
		await Promise.all([...threads].map((ts) => this.loading.loadThread(conversation, ts)));
	}
}

/** Whether an author was caught up is seen in the timeline after the part: what is deleted later has to be in it. */
function upToDeletes(effects: readonly Effect[]): Effect[][] {
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
			return [at, 'archived', 0, '', archived, 0, ''];
		case 'posted':
		case 'edited':
		case 'deleted': {
			const message = messageOf(effect) as Message;
			const thread = message.threadTs === null ? 0 : threads.indexOf(message.threadTs) + 1;
			const shown = inTimeline(message) ? 1 : 0;
			const isFirst = effect.type === 'posted' && effect.thread?.replyCount === 1;
			return [
				at,
				CHANGES[effect.type],
				message.ts,
				packEntry(message),
				shown,
				thread,
				isFirst ? 'first' : '',
			];
		}
		default:
			return [at, 'touch', 0, '', 0, 0, ''];
	}
}

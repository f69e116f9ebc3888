import { inTimeline, type Message } from '../../../../model/message.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ReadFact } from '../../../ports/facts.ts';
import type { Commands } from '../connection.ts';
import { type Fence, NO_TOKEN, type Token } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { Authors, Post } from './authors.ts';
import type { Loading } from './loading.ts';
import { packEntry } from './packing.ts';
import { Turns } from './turns.ts';
import type { Fields, UserChange } from './user-state.ts';
import type { Users } from './users.ts';

/**
 * Takes the sequencer's effects into Redis: first the conversation, all of them in one script, then the users that they are
 * about, those of one user in order. Applying again what was applied, wholly or in part, comes to the same.
 *
 * A batch of posts is two round trips, whatever its size: one applies them and reads where their authors stand, one moves the
 * authors' cursors. What an author posted in a row is one move.
 */
export class Application {
	private readonly ofUser = new Turns();
	private readonly newest = new NewestMessages();

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly loading: Loading,
		private readonly users: Users,
		private readonly authors: Authors,
		private readonly ttlSeconds: number,
		private readonly fence: Fence,
	) {}

	/** Effects on one conversation, in their order. */
	async apply(conversation: string, effects: readonly Effect[]): Promise<ReadFact[]> {
		const read = this.readAuthors(conversation, effects);
		const results = await this.toConversation(conversation, effects);
		const moved: Promise<ReadFact[]>[] = [];
		/** Of each author, the posts that nothing else about that user has followed yet. */
		const rows = new Map<string, Post[]>();
		for (const [index, effect] of effects.entries()) {
			if (effect.type !== 'posted') {
				for (const user of usersOf(effect)) rows.delete(user);
				moved.push(this.toUsers(conversation, effect));
				continue;
			}
			const { user } = effect.message;
			const previousBy = this.newest.authorOf(conversation, effect.prevTs);
			if (inTimeline(effect.message)) this.newest.posted(conversation, effect.message);
			const post: Post = { effect, isNew: results[index] === 1, previousBy };
			const row = rows.get(user);
			if (row) row.push(post);
			else moved.push(this.toAuthor(user, post, rows, read.get(user)));
		}
		return (await Promise.all(moved)).flat();
	}

	/** The turn begins after this one of the event loop: by then the row has all that the author posted in it. */
	private toAuthor(
		user: string,
		first: Post,
		rows: Map<string, Post[]>,
		read: Promise<Fields> | undefined,
	): Promise<ReadFact[]> {
		const row = [first];
		rows.set(user, row);
		return this.ofUser.take(user, () => this.authors.posted(user, row, read));
	}

	/**
	 * Asked in the same turn as the conversation, so that both go out together. What is stale by the time it is used is noticed
	 * when it is set. Not where the batch changes who is in the conversation or follows a thread: that comes first.
	 */
	private readAuthors(
		conversation: string,
		effects: readonly Effect[],
	): ReadonlyMap<string, Promise<Fields>> {
		const read = new Map<string, Promise<Fields>>();
		if (effects.some((effect) => usersOf(effect).length > 0)) return read;
		const posted = effects.filter((effect) => effect.type === 'posted');
		for (const [user, theirs] of Map.groupBy(posted, ({ message }) => message.user)) {
			const fields = this.authors.read(user, conversation, theirs);
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
		while (results.length < effects.length) {
			const answer = await this.callScript(conversation, effects.slice(results.length));
			results.push(...answer.filter((result) => result >= 0));
			const stopped = answer.at(-1) ?? 0;
			if (stopped >= 0) continue;
			if (stopped === -2) await this.loadThreadsOf(conversation, effects.slice(results.length));
			else if (stopped === -3) await loading.deepen(conversation);
			else if (!(await loading.load(conversation)))
				throw new Error(`an effect on ${conversation}, which the store does not have`);
		}
		return results;
	}

	private async callScript(conversation: string, effects: readonly Effect[]): Promise<number[]> {
		const { commands, keys, ttlSeconds, fence } = this;
		const threads = [...new Set(effects.map(threadOf).filter((ts) => ts !== null))];
		const call = async (token: Token): Promise<number[]> =>
			(await commands.apply(
				keys.meta(conversation),
				keys.timeline(conversation),
				...token,
				ttlSeconds,
				threads.length,
				...threads.map((ts) => keys.thread(conversation, ts)),
				...effects.flatMap((effect) => scriptArguments(effect, threads)),
			)) as number[];
		if (effects[0]?.type !== 'created') return call(NO_TOKEN);
		// Nothing has to be loaded for it: it is a load by itself.
		let results: number[] = [];
		await fence.load(
			[conversation],
			async () => undefined,
			async (_, tokenOf) => {
				results = await call(tokenOf(conversation));
			},
		);
		return results;
	}

	/** Those that the first of these effects need, and what else the same command did. */
	private async loadThreadsOf(conversation: string, effects: readonly Effect[]): Promise<void> {
		const ofOne = effects.filter(({ at }) => at === effects[0]?.at);
		const threads = new Set(ofOne.map(threadOf).filter((ts) => ts !== null));
		await Promise.all([...threads].map((ts) => this.loading.loadThread(conversation, ts)));
	}

	private async toUsers(conversation: string, effect: Exclude<Effect, Posted>): Promise<ReadFact[]> {
		const { at } = effect;
		switch (effect.type) {
			case 'created':
				return this.change(effect.members, { type: 'join', conversation, at, cursor: 0 });
			case 'joined':
				return this.change(effect.users, { type: 'join', conversation, at, cursor: effect.cursor });
			case 'left':
				return this.change([effect.user], { type: 'leave', conversation, at });
			case 'followed': {
				const { threadTs, cursor } = effect;
				return this.change([effect.user], { type: 'follow', conversation, threadTs, at, cursor });
			}
			case 'unfollowed': {
				const { threadTs } = effect;
				return this.change([effect.user], { type: 'unfollow', conversation, threadTs, at });
			}
			case 'edited':
			case 'deleted':
			case 'reacted':
			case 'pinned':
			case 'changed':
				return [];
		}
	}

	private change(users: readonly string[], change: UserChange): Promise<ReadFact[]> {
		return this.users.change(users, change, (user, work) => this.ofUser.take(user, work));
	}
}

type Posted = Extract<Effect, { type: 'posted' }>;

/** Those whose memberships and follows it changes, apart from an author's cursor. */
function usersOf(effect: Effect): readonly string[] {
	switch (effect.type) {
		case 'created':
			return effect.members;
		case 'joined':
			return effect.users;
		case 'left':
		case 'followed':
		case 'unfollowed':
			return [effect.user];
		default:
			return [];
	}
}

/** Conversations whose newest message is remembered. */
const MOST_REMEMBERED = 50_000;

/** Who wrote the newest message of a timeline, of those applied here: neither its ts nor its author ever changes. */
class NewestMessages {
	private readonly byConversation = new Map<string, Pick<Message, 'ts' | 'user'>>();

	/** Null: not known. */
	authorOf(conversation: string, ts: number | null): string | null {
		const newest = this.byConversation.get(conversation);
		return newest && newest.ts === ts ? newest.user : null;
	}

	posted(conversation: string, { ts, user }: Message): void {
		if (this.byConversation.size >= MOST_REMEMBERED) this.byConversation.clear();
		this.byConversation.set(conversation, { ts, user });
	}
}

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

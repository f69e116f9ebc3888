import { isCaughtUp } from '../../../model/counting.ts';
import type { Clock } from '../../../model/ts.ts';
import type { Command } from '../../../sequencer/commands.ts';
import type { Effect } from '../../../sequencer/effects.ts';
import type { Ledger } from '../../ports/store.ts';
import type {
	ChangeRequest,
	ChangeResult,
	Decided,
	Ids,
	OnMoved,
	Release,
	RepairProblem,
	Scope,
	ViewSnapshot,
	Views,
} from '../../ports/views.ts';
import { applyEffects, applyUserChange } from './effect-applier.ts';
import { ScopeLoader } from './memory-snapshot.ts';
import type { Residents, ResidentUser } from './residents.ts';

/** How many devices of one user can page through unread-first listings at once. */
const MAX_LISTINGS = 8;

/**
 * Views in the memory of this process.
 *
 * A change is applied and passed to the ledger without an await, so stamps, applying and commits have the same
 * order. A read computes its answer at once, and returns it when everything it may show is durable.
 */
export class MemoryViews implements Views {
	private readonly loader: ScopeLoader;
	/** Unread-first listings of loaded users, the least recently used first. */
	private readonly listings = new WeakMap<ResidentUser, Map<number, Ids>>();

	constructor(
		private readonly residents: Residents,
		private readonly ledger: Ledger,
		private readonly clock: Clock,
	) {
		this.loader = new ScopeLoader(residents, () => clock.last());
	}

	async read<T>(user: string, scope: Scope, use: (views: ViewSnapshot) => T): Promise<T> {
		const answer = await this.loader.whenLoaded(user, scope, use);
		await this.ledger.flushed();
		return answer;
	}

	/** A change without effect, and a problem, resolve only when the state that they found is durable. */
	async change<D extends Decided, Problem extends string, T>(
		user: string,
		{ scope, decide, show, onDurable }: ChangeRequest<D, Problem, T>,
	): Promise<ChangeResult<D, T> | Problem | null> {
		const { ledger, clock } = this;
		const result = await this.loader.whenLoaded(user, scope, (views) => {
			const decided = decide(views);
			if (typeof decided === 'string') return decided;
			const { change, moves } = decided;
			const fact = moves && applyUserChange(views.user, change, clock.next());
			const shown = show(views) as T;
			// Chained to the commit without an await, which keeps events in the order of stamps.
			const durable = (fact ? ledger.commit([fact]) : ledger.flushed()).then(() => onDurable(shown));
			return { decided, shown, durable };
		});
		if (typeof result === 'string') await ledger.flushed();
		return result;
	}

	async since(user: string, position?: number): Promise<number> {
		return position ?? this.read(user, { all: 'conversations' }, (views) => views.position());
	}

	async saveListing(user: string, number: number, ids: Ids): Promise<void> {
		const loaded = await this.residents.user(user);
		const others = [...(this.listings.get(loaded) ?? [])].filter(([other]) => other !== number);
		this.listings.set(loaded, new Map([...others, [number, ids] as const].slice(-MAX_LISTINGS)));
	}

	async savedListing(user: string, number: number): Promise<Ids | null> {
		const listing = this.listings.get(await this.residents.user(user))?.get(number);
		// Now it is the most recently used one.
		if (listing) await this.saveListing(user, number, listing);
		return listing ?? null;
	}

	async prepare(command: Command): Promise<Release> {
		const release = this.residents.keepLoaded([command.conversation, command.actor]);
		try {
			await this.loadFor(command);
			return release;
		} catch (error) {
			release();
			throw error;
		}
	}

	private async loadFor({ conversation: id, actor, action }: Command): Promise<void> {
		const { residents } = this;
		// No await if both are in memory: every post comes through here.
		const conversation = residents.find(id) ?? (await residents.conversation(id));
		if (!conversation) return;
		const { loader } = residents;
		if (action.type === 'delete') await loader.loadPastNewest(conversation);
		if (action.type !== 'post') return;
		const { threadTs } = action;
		if (threadTs !== null && !conversation.threads.has(threadTs))
			await loader.loadThread(conversation, threadTs);
		for (;;) {
			const user = residents.findUser(actor) ?? (await residents.user(actor));
			const membership = user.membershipIn(conversation.number);
			if (!membership) return;
			const author = { number: user.number, cursor: membership.cursor, ahead: membership.ahead };
			if (isCaughtUp(conversation.timeline, author, Number.MAX_SAFE_INTEGER) !== undefined) return;
			await loader.loadSmallChunk(conversation, membership.cursor);
		}
	}

	async apply<T>(effects: readonly Effect[], stored: number, onMoved: OnMoved<T>): Promise<T> {
		return onMoved(applyEffects(this.residents, effects, stored));
	}

	async available(): Promise<void> {}

	/** Evicts both, so that their next use loads them from the store. */
	async repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		const { residents, ledger } = this;
		await ledger.flushed();
		const loadedUser = residents.peekUser(user);
		const loaded = residents.find(conversation);
		const isUserDropped = !loadedUser || residents.dropUser(loadedUser);
		return (!loaded || residents.dropConversation(loaded)) && isUserDropped ? 'repaired' : 'changing';
	}
}

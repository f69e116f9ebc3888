import { isCaughtUp } from '../../../model/counting.ts';
import type { Clock } from '../../../model/ts.ts';
import { readerOf } from '../../../model/views.ts';
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
import { applyChange } from './apply-change.ts';
import { EffectApplier } from './effect-applier.ts';
import type { LoadedUser } from './loaded.ts';
import { ScopeLoader } from './memory-snapshot.ts';
import { Repair } from './repair.ts';
import type { Residents } from './residents.ts';

/** How many devices of one user can page through unread-first listings at once. */
const MAX_LISTINGS = 8;

/**
 * Views in the memory of this process.
 *
 * A change is applied and passed to the ledger without an await, so stamps, applying and commits have the same
 * order. A read computes its answer at once, and returns it when everything it may show is durable.
 */
export class MemoryViews implements Views {
	private readonly applier: EffectApplier;
	private readonly loader: ScopeLoader;
	/** Unread-first listings of loaded users, the least recently used first. */
	private readonly lists = new WeakMap<LoadedUser, Map<number, Ids>>();

	constructor(
		private readonly residents: Residents,
		private readonly ledger: Ledger,
		private readonly clock: Clock,
	) {
		this.applier = new EffectApplier(residents);
		this.loader = new ScopeLoader(residents, () => clock.last());
	}

	async read<T>(user: string, scope: Scope, use: (views: ViewSnapshot) => T): Promise<T> {
		const answer = await this.loader.whenLoaded(user, scope, use);
		await this.ledger.flushed();
		return answer;
	}

	/** A change without effect resolves only when the state it found is durable. */
	change<D extends Decided, Problem extends string, T>(
		user: string,
		{ scope, decide, show, onDurable }: ChangeRequest<D, Problem, T>,
	): Promise<ChangeResult<D, T> | Problem | null> {
		const { ledger, clock, residents } = this;
		return this.loader.whenLoaded(user, scope, (views) => {
			const decided = decide(views);
			if (typeof decided === 'string') return decided;
			const { change, moves } = decided;
			const number = change.type === 'activity' ? 0 : residents.conversations.of(change.conversation);
			const fact = moves && applyChange(views.user, number, change, clock.next());
			const seen = show(views) as T;
			// Chained to the commit without an await, which keeps events in the order of stamps.
			const durable = (fact ? ledger.commit([fact]) : ledger.flushed()).then(() => onDurable(seen));
			return { decided, shown: seen, durable };
		});
	}

	async position(user: string): Promise<number> {
		return this.read(user, { all: 'heads' }, (views) => views.position());
	}

	sinceOf(position: number): number {
		return position;
	}

	async savedListing(user: string, number: number, ids?: Ids): Promise<Ids | null> {
		const loaded = await this.residents.user(user);
		const lists = this.lists.get(loaded) ?? new Map<number, Ids>();
		const list = ids ?? lists.get(number);
		if (!list) return null;
		lists.delete(number);
		lists.set(number, list);
		this.lists.set(loaded, new Map([...lists].slice(-MAX_LISTINGS)));
		return list;
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
		const conversation = await residents.conversation(id);
		if (!conversation) return;
		if (action.type === 'delete') await residents.timelines.loadPastNewest(conversation);
		if (action.type !== 'post') return;
		if (action.threadTs !== null) await residents.thread(conversation, action.threadTs);
		for (;;) {
			const { timeline, number } = conversation;
			const user = await residents.user(actor);
			const membership = user.membershipIn(number);
			if (!membership) return;
			const reader = readerOf(user, membership.cursor, membership.ahead);
			if (isCaughtUp(timeline, reader, Number.MAX_SAFE_INTEGER) !== undefined) return;
			await residents.timelines.loadSmallChunk(conversation, membership.cursor);
		}
	}

	async apply<T>(effects: readonly Effect[], onMoved: OnMoved<T>): Promise<T> {
		return onMoved(effects.flatMap((effect) => this.applier.apply(effect)));
	}

	/** Nothing to trim: evicted conversations are loaded from the store again. */
	async written(): Promise<void> {}

	async available(): Promise<void> {}

	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		return new Repair(this.residents, this.ledger).at(user, conversation);
	}
}

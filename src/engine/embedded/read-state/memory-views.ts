import { isCaughtUp } from '../../../model/counting.ts';
import type { Clock } from '../../../model/ts.ts';
import { readerOf } from '../../../model/views.ts';
import type { Command } from '../../../sequencer/commands.ts';
import type { Effect } from '../../../sequencer/effects.ts';
import type { Ledger } from '../../ports/store.ts';
import type {
	Changed,
	Changing,
	Decided,
	Ids,
	Keep,
	Release,
	RepairProblem,
	Scope,
	ViewSnapshot,
	Views,
} from '../../ports/views.ts';
import { Application } from './application.ts';
import { changed } from './changed.ts';
import type { LoadedUser } from './loaded.ts';
import { Looking } from './memory-snapshot.ts';
import { Repair } from './repair.ts';
import type { Residents } from './residents.ts';

/** As many devices of one user can go through lists of their own at once. */
const LISTS_KEPT = 8;

/**
 * Views in this process's memory.
 *
 * Changes are applied at once and handed to the ledger in the same turn, so stamps, application and commits
 * have one order. Questions are answered at once too, and handed out when everything they may show is on disk.
 */
export class MemoryViews implements Views {
	private readonly application: Application;
	private readonly looking: Looking;
	/** Of users in memory, those used last. */
	private readonly lists = new WeakMap<LoadedUser, Map<number, Ids>>();

	constructor(
		private readonly residents: Residents,
		private readonly ledger: Ledger,
		private readonly clock: Clock,
	) {
		this.application = new Application(residents);
		this.looking = new Looking(residents, () => clock.last());
	}

	async look<T>(user: string, scope: Scope, use: (looked: ViewSnapshot) => T): Promise<T> {
		const answer = await this.looking.whenLoaded(user, scope, use);
		await this.ledger.settled();
		return answer;
	}

	/** What changes nothing is durable no earlier than what it found, which may still be on its way to disk. */
	change<D extends Decided, Problem extends string, T>(
		user: string,
		{ scope, decide, show, onDurable }: Changing<D, Problem, T>,
	): Promise<Changed<D, T> | Problem | null> {
		const { ledger, clock, residents } = this;
		return this.looking.whenLoaded(user, scope, (looked) => {
			const decided = decide(looked);
			if (typeof decided === 'string') return decided;
			const { change, moves } = decided;
			const number = change.type === 'activity' ? 0 : residents.conversations.of(change.conversation);
			const fact = moves && changed(looked.user, number, change, clock.next());
			const seen = show(looked) as T;
			// Hung on the commit in this very turn: that is what keeps events in the order of stamps.
			const durable = (fact ? ledger.commit([fact]) : ledger.settled()).then(() => onDurable(seen));
			return { decided, shown: seen, durable };
		});
	}

	async position(user: string): Promise<number> {
		return this.look(user, { all: 'heads' }, (looked) => looked.position());
	}

	sinceOf(position: number): number {
		return position;
	}

	async list(user: string, number: number, ids?: Ids): Promise<Ids | null> {
		const loaded = await this.residents.user(user);
		const lists = this.lists.get(loaded) ?? new Map<number, Ids>();
		const list = ids ?? lists.get(number);
		if (!list) return null;
		lists.delete(number);
		lists.set(number, list);
		this.lists.set(loaded, new Map([...lists].slice(-LISTS_KEPT)));
		return list;
	}

	async prepare(command: Command): Promise<Release> {
		const release = this.residents.pin([command.conversation, command.actor]);
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
		if (action.type === 'delete') await residents.depths.reachPastNewest(conversation);
		if (action.type !== 'post') return;
		if (action.threadTs !== null) await residents.thread(conversation, action.threadTs);
		for (;;) {
			const { timeline, number } = conversation;
			const user = await residents.user(actor);
			const membership = user.membershipIn(number);
			if (!membership) return;
			const reader = readerOf(user, membership.cursor, membership.ahead);
			if (isCaughtUp(timeline, reader, Number.MAX_SAFE_INTEGER) !== undefined) return;
			await residents.depths.oneStep(conversation, membership.cursor);
		}
	}

	async apply<T>(effects: readonly Effect[], keep: Keep<T>): Promise<T> {
		return keep(effects.flatMap((effect) => this.application.apply(effect)));
	}

	/** It is loaded from the store again when it was evicted. */
	async written(): Promise<void> {}

	async available(): Promise<void> {}

	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		return new Repair(this.residents, this.ledger).at(user, conversation);
	}
}

import type { LoggedCommand, LogSpan } from '../engine/ports/log.ts';
import type { Release, Views } from '../engine/ports/views.ts';
import type { Command } from '../sequencer/commands.ts';
import { type Decision, sequence } from '../sequencer/decide.ts';
import type { ConversationState } from '../sequencer/state.ts';
import type { Conversations } from './conversations.ts';
import type { CommandGroup, EffectPipeline, ExecutedGroup } from './effect-pipeline.ts';

/**
 * A partition of the log, while this process owns it: loads state and sequences commands, then passes the decisions to the
 * `EffectPipeline` of its engine. The embedded engine has one partition; a cluster worker has any number.
 *
 * Commands of one conversation are decided one after the other, in log order; different conversations run
 * concurrently, so a conversation that waits for the store delays no other.
 */

export interface PartitionParts {
	readonly conversations: Conversations;
	readonly views: Pick<Views, 'prepare'>;
	readonly pipeline: EffectPipeline;
	/** Called if a group fails while no batch waits for it: restart the partition. */
	readonly onFailed: (error: unknown) => void;
	readonly nowMs: () => number;
	readonly report: (error: unknown, about: string) => void;
}

/** A group of commands in flight. */
interface GroupInFlight {
	readonly conversation: string;
	readonly size: number;
	readonly executed: Promise<ExecutedGroup>;
	/** Resolves when the group is published (null) or has failed; never rejects. */
	ended: Promise<Failure | null>;
	/** A batch waits for the group and fails with it. */
	isAwaited: boolean;
}

interface Failure {
	readonly error: unknown;
}

/** In a cluster: with more unpublished commands, no further batch is taken. */
const MAX_WAITING = 4_000;

const NOT_FAILED = Promise.resolve(null);

export class Partition {
	private lag = 0;
	private waiting = 0;
	private readonly inFlight = new Set<GroupInFlight>();
	/** The newest unpublished group of each conversation. */
	private readonly newest = new Map<string, GroupInFlight>();

	constructor(private readonly parts: PartitionParts) {}

	/** Starts all groups of the batch before its first await. Resolves when the next batch may be taken. */
	async process(batch: readonly LoggedCommand[], span: LogSpan): Promise<void> {
		const { pipeline, nowMs } = this.parts;
		this.lag = ageMs(batch, nowMs());
		const first: GroupInFlight[] = [];
		for (const group of pipeline.groups(batch, span)) {
			const before = this.newest.get(group.conversation);
			const started = this.begin(group, before);
			if (before) continue;
			started.isAwaited = true;
			first.push(started);
		}
		await pipeline.readyForNext(() => Promise.all(first.map(published)));
		for (const group of first) group.isAwaited = false;
	}

	/** Drops the states of all conversations, because a commit failed; they are loaded again from the store. */
	reset(): void {
		this.parts.conversations.clear();
	}

	/**
	 * Evicts conversations that were not used since `before` (by the clock of `Conversations`), if their changes are durable. During an
	 * outage, a group can wait longer than the idle time. The pipeline does not know its changes yet, so its state is kept.
	 */
	evict(before: number): void {
		const { conversations, pipeline } = this.parts;
		conversations.evict(before, (id, stamp) => !this.newest.has(id) && stamp <= pipeline.durable(id));
	}

	/** Age of the newest command when its batch was taken, in ms. */
	lagMs(): number {
		return this.lag;
	}

	/** Resolves when no command is being decided or executed. */
	async idle(): Promise<void> {
		await Promise.allSettled([...this.inFlight].map(({ executed }) => executed));
	}

	/** Resolves when all groups have ended: true if all are published. */
	async finished(): Promise<boolean> {
		const failures = await Promise.all([...this.inFlight].map(({ ended }) => ended));
		return failures.every((failure) => failure === null);
	}

	/** Resolves when fewer commands are waiting; null: there is room for a batch. */
	room(): Promise<void> | null {
		if (this.waiting <= MAX_WAITING) return null;
		return Promise.race([...this.inFlight].map(({ ended }) => ended)).then(() => undefined);
	}

	private begin(group: CommandGroup, before: GroupInFlight | undefined): GroupInFlight {
		const { conversation, commands } = group;
		const executed = this.run(group, before?.executed);
		const started: GroupInFlight = {
			conversation,
			size: commands.length,
			executed,
			ended: NOT_FAILED,
			isAwaited: false,
		};
		this.inFlight.add(started);
		this.newest.set(conversation, started);
		this.waiting += started.size;
		started.ended = this.watch(started);
		return started;
	}

	private async watch(group: GroupInFlight): Promise<Failure | null> {
		try {
			const { published } = await group.executed;
			if (published) await published;
		} catch (error) {
			// It stays in `newest`: if it was not executed, no later command of this conversation is decided.
			this.remove(group);
			if (!group.isAwaited) this.parts.onFailed(error);
			return { error };
		}
		this.remove(group);
		if (this.newest.get(group.conversation) === group) this.newest.delete(group.conversation);
		return null;
	}

	private remove(group: GroupInFlight): void {
		this.inFlight.delete(group);
		this.waiting -= group.size;
	}

	private async run(group: CommandGroup, before: Promise<unknown> | undefined): Promise<ExecutedGroup> {
		const { conversations, pipeline } = this.parts;
		if (before) await before;
		const held: Release[] = [];
		try {
			const decisions: Decision[] = [];
			for (const { command } of group.commands) {
				let state: ConversationState;
				do state = await pipeline.load(command, () => this.prepare(command, held));
				while (!conversations.isCurrent(command.conversation, state));
				// No await from here to the next command, or to `execute`.
				decisions.push(this.decide(state, pipeline.stamped(command)));
			}
			const executed = await pipeline.execute(group, decisions);
			// `execute` has registered the effects that are not durable yet: only now is it safe to evict.
			conversations.evictOld(group.conversation, pipeline.durable(group.conversation));
			return executed;
		} catch (error) {
			return pipeline.failed(group, error);
		} finally {
			for (const release of held) release();
		}
	}

	private async prepare(command: Command, held: Release[]): Promise<ConversationState> {
		held.push(await this.parts.views.prepare(command));
		return this.parts.conversations.ready(command);
	}

	/** A command that throws here would throw on every replay: reject it, so that it does not block the partition. */
	private decide(state: ConversationState, command: Command): Decision {
		try {
			return sequence(state, command);
		} catch (error) {
			this.parts.report(error, `command ${command.action.type}`);
			return { outcome: { ok: false, error: 'internal_error' }, effects: [] };
		}
	}
}

/** Age of the newest command, by the clock of the gateway that received it. */
const ageMs = (batch: readonly LoggedCommand[], nowMs: number): number =>
	Math.max(0, nowMs - (batch.at(-1)?.command.at ?? 0) / 1000);

/** Rejects if the group failed. */
async function published({ ended }: GroupInFlight): Promise<void> {
	const failure = await ended;
	if (failure) throw failure.error;
}

import type { Numbering } from '../../../../model/numbering.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { Wanted } from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import { RedisUnavailable } from '../failure-cause.ts';
import type { IsThere } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { nodesOf } from '../nodes.ts';
import { slotOf } from '../slots.ts';
import { type Applied, ConversationCopy, type Missing } from './conversation-copy.ts';
import { CopyCache } from './copy-cache.ts';

/**
 * Copies of conversations, brought up to date before each use: what is asked in one turn goes to each node of Redis as one
 * script, or one for so many conversations. Whoever asks has them as they were at some moment after that.
 */

/** Redis does nothing else meanwhile: so many take about half a millisecond. */
const AT_ONCE = 400;

export const NO_THREADS: readonly number[] = [];
const NO_IDS: ReadonlySet<string> = new Set();

interface Question {
	readonly copy: ConversationCopy;
	readonly back: number | null;
	readonly threads: readonly number[];
	/** Of the copy when it was asked. */
	revision: number;
	/** Null: as it was. */
	answer: Missing | 'again' | null;
}

class Part {
	readonly questions: Question[] = [];
	readonly answered = Promise.withResolvers<void>();
}

/** Brings in what Redis does not have. */
export interface Loads {
	/** Answers which of them there are. */
	load(conversations: readonly string[]): Promise<ReadonlySet<string>>;
	loadThread(conversation: string, threadTs: number): Promise<void>;
}

/** Null where there is no such conversation. */
export type Copies = readonly (ConversationCopy | null)[];

/** Copies in use by one caller, which they stay where they are too much to be kept. */
export type Held = Map<string, ConversationCopy>;

export interface CopiesRead {
	readonly copies: Copies;
	/** Whether some of them are by now not as they were before it was asked. */
	haveChanged(): boolean;
}

export class ConversationViews {
	private readonly cache: CopyCache<ConversationCopy>;
	private readonly nodeOf: (tag: string) => string;
	/** By node: what is sent when this turn is over. */
	private readonly open = new Map<string, Part>();

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly ttlSeconds: number,
		private readonly loads: Loads,
		mostBytes: number,
	) {
		this.cache = new CopyCache(mostBytes);
		this.nodeOf = nodesOf(commands);
	}

	/** Forgets the copies of conversations there. */
	drop(isThere: IsThere): void {
		this.cache.removeIf(({ slot }) => isThere(slot));
	}

	slotsOf(wanted: readonly Wanted[]): number[] {
		return wanted.map(({ id }) => this.cache.get(id)?.slot ?? slotOf(id));
	}

	clear(): void {
		this.cache.clear();
	}

	/** As they are now, in copies that the caller holds where it does. */
	async look(wanted: readonly Wanted[], numbering: Numbering, held?: Held): Promise<CopiesRead> {
		const asked = wanted.map(({ id }) => this.copyOf(id, numbering, held));
		const before = asked.map(({ changes }) => changes);
		const revisions = asked.map(({ revision }) => revision);
		const copies: (ConversationCopy | null)[] = [...asked];
		let left = wanted.map((_, index) => index);
		while (left.length > 0) {
			const questions = await this.ask(
				left.map((index) => ({ wanted: wanted[index] as Wanted, copy: asked[index] as ConversationCopy })),
			);
			const isAbsent = ({ answer }: Question) => answer !== null && answer !== 'again' && answer.isAbsent;
			const absent = questions.filter(isAbsent).map(({ copy }) => copy.id);
			const loaded = absent.length > 0 ? await this.loads.load(absent) : NO_IDS;
			const again: number[] = [];
			const threads: Promise<void>[] = [];
			for (const [place, question] of questions.entries()) {
				const { copy, answer } = question;
				const index = left[place] as number;
				if (answer === null) continue;
				if (isAbsent(question) && !loaded.has(copy.id)) copies[index] = null;
				else again.push(index);
				for (const root of answer === 'again' ? NO_THREADS : answer.threads)
					threads.push(this.loads.loadThread(copy.id, root));
			}
			await Promise.all(threads);
			left = again;
		}
		for (const [index, copy] of copies.entries()) {
			if (!copy) continue;
			if (copy.revision === revisions[index] && this.cache.get(copy.id) === copy) copy.used = true;
			else this.cache.put(copy);
		}
		return {
			copies,
			haveChanged: () => asked.some(({ changes }, index) => changes !== before[index]),
		};
	}

	/** The owner of the conversation took in these effects. */
	advance(id: string, applied: Applied, effects: readonly Effect[]): void {
		const copy = this.cache.get(id);
		if (copy?.advance(applied, effects)) this.cache.put(copy);
	}

	/** A copy that has everything up to this stamp. */
	currentOf(id: string, stamp: number): ConversationCopy | undefined {
		const copy = this.cache.get(id);
		return copy?.isKnown && copy.stamp === stamp ? copy : undefined;
	}

	/** It has taken in more than it had when it was looked at. */
	grown(copy: ConversationCopy): void {
		if (this.cache.get(copy.id) === copy) this.cache.put(copy);
	}

	private copyOf(id: string, numbering: Numbering, held?: Held): ConversationCopy {
		const cache = held?.get(id) ?? this.cache.get(id);
		return cache?.numbering === numbering ? cache : new ConversationCopy(id, numbering);
	}

	private async ask(
		all: readonly { readonly wanted: Wanted; readonly copy: ConversationCopy }[],
	): Promise<Question[]> {
		const parts = new Set<Part>();
		const questions = all.map(({ wanted: { id, back, threads }, copy }) => {
			const question: Question = { copy, back, threads, revision: 0, answer: null };
			const part = this.partFor(id);
			part.questions.push(question);
			parts.add(part);
			return question;
		});
		await Promise.all([...parts].map(({ answered }) => answered.promise));
		return questions;
	}

	private partFor(id: string): Part {
		const node = this.nodeOf(id);
		const open = this.open.get(node);
		if (open && open.questions.length < AT_ONCE) return open;
		if (open) void this.send(open);
		else if (this.open.size === 0) queueMicrotask(() => this.sendOpen());
		const part = new Part();
		this.open.set(node, part);
		return part;
	}

	private sendOpen(): void {
		for (const part of this.open.values()) void this.send(part);
		this.open.clear();
	}

	/** Errors are swallowed here: they reject the promises of the callers. */
	private async send({ questions, answered }: Part): Promise<void> {
		try {
			await this.sendAll(questions);
			answered.resolve();
		} catch (error) {
			answered.reject(error);
		}
	}

	private async sendAll(questions: readonly Question[]): Promise<void> {
		const { commands, keys, ttlSeconds } = this;
		const texts = questions.map((question) => {
			question.revision = question.copy.revision;
			return question.copy.question(question.back, question.threads);
		});
		try {
			const answers = (await commands.views(
				keys.meta(questions[0]?.copy.id ?? ''),
				ttlSeconds,
				keys.prefix,
				...texts,
			)) as (number | string)[];
			for (let place = 0; place < answers.length; place += 2)
				takeIn(questions[answers[place] as number] as Question, answers[place + 1] as string);
		} catch (error) {
			// Each by itself is led to wherever its slot is by now.
			const isElsewhere = error instanceof RedisUnavailable && error.isElsewhere;
			if (questions.length === 1 || !isElsewhere) throw error;
			await Promise.all(questions.map((question) => this.sendAll([question])));
		}
	}
}

function takeIn(question: Question, text: string): void {
	const { copy, revision, threads } = question;
	const answer = copy.revision === revision ? copy.takeIn(text) : 'again';
	if (answer === 'again' || answer.isAbsent || answer.threads.length > 0) question.answer = answer;
	// Taken again as a whole, it is without threads that it had when it was asked.
	else question.answer = threads.every((root) => copy.threads.has(root)) ? null : 'again';
}

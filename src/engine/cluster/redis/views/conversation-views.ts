import type { Numbering } from '../../../../model/numbering.ts';
import type { Effect } from '../../../../sequencer/effects.ts';
import type { ConversationScope } from '../../../ports/views.ts';
import type { Commands } from '../connection.ts';
import { isElsewhere } from '../failure-cause.ts';
import type { IsOnNode } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { nodesOf } from '../slots.ts';
import { type Applied, ConversationCopy, type Missing } from './conversation-copy.ts';
import { CopyCache } from './copy-cache.ts';

/**
 * Copies of conversations, brought up to date before each use.
 *
 * Everything that callers request in one turn of the event loop goes to each node of Redis together: one script compares the versions
 * of copies that cover their request (versions-1.lua); another one reads changes, deeper entries and threads (views-1.lua), also for
 * copies whose version differs. The caller gets copies that were current at some moment after its call.
 */

/** A script blocks Redis: a batch of these sizes takes about half a millisecond. */
const COMPARISONS_PER_CALL = 1_000;
const READS_PER_CALL = 120;
/** A copy renews the expiry of its conversation in Redis once this share of it has passed. */
const RENEWED_AFTER = 1 / 16;

export const NO_THREADS: readonly number[] = [];
const NO_IDS: ReadonlySet<string> = new Set();

interface CopyRequest {
	readonly copy: ConversationCopy;
	readonly after: number | null;
	readonly threads: readonly number[];
	/** `updateNumber` of the copy at the time of the request. */
	updateNumber: number;
	/** Null: the copy is current. */
	answer: Missing | 'retry' | null;
}

/** Requests to one node in one turn. */
class NodeBatch {
	/** Requests that their copies cover: only versions are compared. */
	readonly comparisons: CopyRequest[] = [];
	readonly requests: CopyRequest[] = [];
	readonly answered = Promise.withResolvers<void>();

	get isFull(): boolean {
		return this.comparisons.length === COMPARISONS_PER_CALL || this.requests.length === READS_PER_CALL;
	}
}

/** Loads what Redis does not have. */
export interface Loader {
	/** Resolves to those that exist. */
	load(conversations: readonly string[]): Promise<ReadonlySet<string>>;
	loadThread(conversation: string, threadTs: number): Promise<void>;
}

/** Null: no such conversation. */
export type Copies = readonly (ConversationCopy | null)[];

/** Copies that one caller uses; it keeps them even if the cache is too small. */
export type HeldCopies = Map<string, ConversationCopy>;

export interface CopiesRead {
	readonly copies: Copies;
	/** Whether some of them have changed since the call. */
	haveChanged(): boolean;
}

export class ConversationViews {
	private readonly cache: CopyCache<ConversationCopy>;
	private readonly nodeOf: (tag: string) => string;
	/** By node: sent at the end of this turn. */
	private readonly open = new Map<string, NodeBatch>();

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly ttlSeconds: number,
		private readonly loader: Loader,
		mostBytes: number,
	) {
		this.cache = new CopyCache(mostBytes);
		this.nodeOf = nodesOf(commands);
	}

	/** Evicts the copies of conversations on a node. */
	drop(isOnNode: IsOnNode): void {
		this.cache.removeIf(({ slot }) => isOnNode(slot));
	}

	clear(): void {
		this.cache.clear();
	}

	/** Copies in memory, without a request: those that the caller holds first, and new empty ones for unknown conversations. */
	copiesOf(wanted: readonly ConversationScope[], numbering: Numbering, held: HeldCopies): ConversationCopy[] {
		return wanted.map(({ id }) => {
			const known = held.get(id) ?? this.cache.get(id);
			if (known?.numbering !== numbering) return new ConversationCopy(id, numbering);
			known.used = true;
			return known;
		});
	}

	/** Brings these copies, one per wanted conversation, up to date. */
	async update(
		wanted: readonly ConversationScope[],
		copiesBefore: readonly ConversationCopy[],
	): Promise<CopiesRead> {
		const before = copiesBefore.map(({ stateNumber }) => stateNumber);
		const updateNumbers = copiesBefore.map(({ updateNumber }) => updateNumber);
		const copies: (ConversationCopy | null)[] = [...copiesBefore];
		let left = wanted.map((_, index) => index);
		while (left.length > 0) {
			const requests = await this.ask(
				left.map((index) => ({
					wanted: wanted[index] as ConversationScope,
					copy: copiesBefore[index] as ConversationCopy,
				})),
			);
			const isAbsent = ({ answer }: CopyRequest) => answer !== null && answer !== 'retry' && answer.isAbsent;
			const absent = requests.filter(isAbsent).map(({ copy }) => copy.id);
			const loaded = absent.length > 0 ? await this.loader.load(absent) : NO_IDS;
			const retries: number[] = [];
			const threads: Promise<void>[] = [];
			for (const [place, request] of requests.entries()) {
				const { copy, answer } = request;
				const index = left[place] as number;
				if (answer === null) continue;
				if (isAbsent(request) && !loaded.has(copy.id)) copies[index] = null;
				else retries.push(index);
				for (const root of answer === 'retry' ? NO_THREADS : answer.threads)
					threads.push(this.loader.loadThread(copy.id, root));
			}
			await Promise.all(threads);
			left = retries;
		}
		for (const [index, copy] of copies.entries())
			if (copy && copy.updateNumber !== updateNumbers[index]) this.cache.put(copy);
		return {
			copies,
			haveChanged: () => copiesBefore.some(({ stateNumber }, index) => stateNumber !== before[index]),
		};
	}

	/** The owner of the conversation has applied these effects. */
	advance(id: string, applied: Applied, effects: readonly Effect[]): void {
		const copy = this.cache.get(id);
		if (copy?.advance(applied, effects)) this.cache.put(copy);
	}

	/** A copy that is current at this stamp. */
	currentOf(id: string, stamp: number): ConversationCopy | undefined {
		const copy = this.cache.get(id);
		return copy?.isKnown && copy.stamp === stamp ? copy : undefined;
	}

	/** Call it when a copy has grown, so that the cache counts its new size. */
	grown(copy: ConversationCopy): void {
		if (this.cache.get(copy.id) === copy) this.cache.put(copy);
	}

	private async ask(
		all: readonly { readonly wanted: ConversationScope; readonly copy: ConversationCopy }[],
	): Promise<CopyRequest[]> {
		const batches = new Set<NodeBatch>();
		const renewedSince = performance.now() - this.ttlSeconds * 1000 * RENEWED_AFTER;
		const requests = all.map(({ wanted: { id, after, threads }, copy }) => {
			const request: CopyRequest = { copy, after, threads, updateNumber: 0, answer: null };
			const batch = this.batchFor(id);
			const isComparison = copy.hasVersionKey && copy.renewedMs > renewedSince && copy.covers(after, threads);
			(isComparison ? batch.comparisons : batch.requests).push(request);
			batches.add(batch);
			return request;
		});
		await Promise.all([...batches].map(({ answered }) => answered.promise));
		return requests;
	}

	private batchFor(id: string): NodeBatch {
		const node = this.nodeOf(id);
		const open = this.open.get(node);
		if (open && !open.isFull) return open;
		if (open) void this.send(open);
		else if (this.open.size === 0) queueMicrotask(() => this.sendOpen());
		const batch = new NodeBatch();
		this.open.set(node, batch);
		return batch;
	}

	private sendOpen(): void {
		for (const batch of this.open.values()) void this.send(batch);
		this.open.clear();
	}

	/** Errors are swallowed here: they reject the promises of the callers. */
	private async send({ comparisons, requests, answered }: NodeBatch): Promise<void> {
		try {
			const [changed] = await Promise.all([this.compare(comparisons), this.read(requests)]);
			for (let from = 0; from < changed.length; from += READS_PER_CALL)
				await this.read(changed.slice(from, from + READS_PER_CALL));
			// Redis returned no changes: it has no version key to compare with.
			for (const { copy, updateNumber } of changed)
				if (copy.updateNumber === updateNumber) copy.hasVersionKey = false;
			answered.resolve();
		} catch (error) {
			answered.reject(error);
		}
	}

	/** Returns those whose copies are not current. */
	private async compare(comparisons: readonly CopyRequest[]): Promise<readonly CopyRequest[]> {
		if (comparisons.length === 0) return comparisons;
		const keys = comparisons.map(({ copy }) => this.keys.version(copy.id));
		const versions = comparisons.map(({ copy }) => copy.version).join(' ');
		try {
			const changed = (await this.commands.versions(keys[0] ?? '', versions, ...keys)) as number[];
			return changed.map((place) => comparisons[place] as CopyRequest);
		} catch (error) {
			if (isElsewhere(error)) return comparisons;
			throw error;
		}
	}

	private async read(requests: readonly CopyRequest[]): Promise<void> {
		const { commands, keys, ttlSeconds } = this;
		if (requests.length === 0) return;
		const now = performance.now();
		const texts = requests.map((request) => {
			request.updateNumber = request.copy.updateNumber;
			return request.copy.request(request.after, request.threads);
		});
		try {
			const answers = (await commands.views(
				keys.meta(requests[0]?.copy.id ?? ''),
				ttlSeconds,
				keys.prefix,
				...texts,
			)) as (number | string)[];
			for (const { copy } of requests) copy.renewedMs = now;
			for (let place = 0; place < answers.length; place += 2)
				applyAnswer(requests[answers[place] as number] as CopyRequest, answers[place + 1] as string);
		} catch (error) {
			// A single request follows its slot to the current node.
			if (requests.length === 1 || !isElsewhere(error)) throw error;
			await Promise.all(requests.map((request) => this.read([request])));
		}
	}
}

function applyAnswer(request: CopyRequest, text: string): void {
	const { copy, updateNumber, threads } = request;
	const answer = copy.updateNumber === updateNumber ? copy.applyAnswer(text) : 'retry';
	if (answer === 'retry' || answer.isAbsent || answer.threads.length > 0) request.answer = answer;
	// A copy that was replaced as a whole lacks threads that it had at the time of the request.
	else request.answer = threads.every((root) => copy.threads.has(root)) ? null : 'retry';
}

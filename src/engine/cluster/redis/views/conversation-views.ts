import { createHash } from 'node:crypto';
import { Rejection } from '../../../../model/errors.ts';
import type { Numbering } from '../../../../model/numbering.ts';
import type { StateSource } from '../../../ports/store.ts';
import type { ConversationScope } from '../../../ports/views.ts';
import { TimelineLoader } from '../../../read-state/timeline-loader.ts';
import type { Commands } from '../connection.ts';
import { isElsewhere } from '../failure-cause.ts';
import type { IsOnNode } from '../fence.ts';
import type { Keys } from '../keys.ts';
import type { CommandChanges } from '../read-state/changes.ts';
import type { Recording } from '../read-state/recording.ts';
import { nodesOf } from '../slots.ts';
import { type Applied, ConversationCopy } from './conversation-copy.ts';
import { CopyCache } from './copy-cache.ts';

/**
 * Copies of conversations, brought up to date before each use, and loaded further back when a reader needs it.
 *
 * Everything that callers request in one turn of the event loop goes to each node of Redis together: one script compares the versions
 * of known copies (versions-1.lua); another one reads the changes that copies lack (views-1.lua). The caller gets copies that
 * were current at some moment after its call.
 */

/** A script blocks Redis: a batch of these sizes takes about half a millisecond. */
const COMPARISONS_PER_CALL = 1_000;
const READS_PER_CALL = 120;
/** A copy renews the expiry of its conversation in Redis once this share of it has passed. */
const RENEWED_AFTER = 1 / 16;
const EVERYTHING = Number.MAX_SAFE_INTEGER;

export const NO_THREADS: readonly number[] = [];

interface CopyRequest {
	readonly copy: ConversationCopy;
	/** `updateNumber` of the copy at the time of the request. */
	updateNumber: number;
	answer: 'current' | 'changed' | 'absent';
}

/** Requests to one node in one turn. */
class NodeBatch {
	/** Requests for known copies: only versions are compared. */
	readonly comparisons: CopyRequest[] = [];
	readonly requests: CopyRequest[] = [];
	readonly answered = Promise.withResolvers<void>();

	get isFull(): boolean {
		return this.comparisons.length === COMPARISONS_PER_CALL || this.requests.length === READS_PER_CALL;
	}
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
	private readonly nodeOf: (slot: number) => string;
	/** By node: sent at the end of this turn. */
	private readonly open = new Map<string, NodeBatch>();
	/** Loads older entries. Afterwards the copies have to be brought up to date. */
	readonly timelines: TimelineLoader<ConversationCopy>;

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly source: StateSource,
		private readonly ttlSeconds: number,
		private readonly recording: Recording,
		mostBytes: number,
	) {
		this.cache = new CopyCache(mostBytes);
		this.nodeOf = nodesOf(commands);
		this.timelines = new TimelineLoader({
			source,
			reading: (copies, read) => this.reading(copies, read),
			add: (copy, rows, reached) => {
				copy.prepend(rows, reached);
				this.grown(copy);
			},
		});
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
			const known = (held.size > 0 ? held.get(id) : undefined) ?? this.cache.get(id);
			if (known?.numbering !== numbering) return new ConversationCopy(id, numbering);
			known.used = true;
			return known;
		});
	}

	/** Brings these copies up to date. */
	async update(copies: readonly ConversationCopy[]): Promise<CopiesRead> {
		const before = statesOf(copies);
		const missing = new Set<ConversationCopy>();
		for (let left = copies; left.length > 0; ) {
			const requests = await this.ask(left);
			left = await this.complete(requests.filter(isIncomplete), missing);
		}
		return {
			copies: missing.size === 0 ? copies : copies.map((copy) => (missing.has(copy) ? null : copy)),
			haveChanged: () => statesOf(copies) !== before,
		};
	}

	/** Loads what these copies lack. Returns those that have to be brought up to date again. */
	private async complete(
		requests: readonly CopyRequest[],
		missing: Set<ConversationCopy>,
	): Promise<ConversationCopy[]> {
		const absent = requests.filter(({ answer }) => answer === 'absent').map(({ copy }) => copy);
		const recorded = absent.length > 0 ? await this.recording.begin(absent.map(({ id }) => id)) : null;
		for (const copy of absent) if (!recorded?.has(copy.id)) missing.add(copy);
		const copies = requests.map(({ copy }) => copy).filter((copy) => !missing.has(copy));
		await this.loadNew(copies.filter((copy) => !copy.isLoaded && copy.isRecorded));
		await Promise.all(
			copies.filter((copy) => copy.isHeadMissing).map((copy) => this.timelines.loadPastNewest(copy)),
		);
		return copies;
	}

	/** Loads threads. Afterwards the copies have to be brought up to date. */
	async loadThreads(copy: ConversationCopy, roots: readonly number[]): Promise<void> {
		await Promise.all(
			roots.map(async (root) => {
				const { loadVersion, timeline } = copy;
				const rows = await this.reading([copy], () =>
					this.source.threadEntries(copy.id, root, EVERYTHING, EVERYTHING),
				);
				if (copy.threads.has(root) || copy.loadVersion !== loadVersion || copy.timeline !== timeline) return;
				copy.addThread(root, rows);
				this.grown(copy);
			}),
		);
	}

	/** Whether another copy fits without evicting one. */
	get hasRoom(): boolean {
		return this.cache.hasRoom;
	}

	/** The owner of the conversation has applied these commands. */
	advance(id: string, applied: Applied, commands: readonly CommandChanges[]): void {
		const copy = this.cache.get(id);
		if (copy?.advance(applied, commands)) this.cache.put(copy);
	}

	/** A copy that is current at this stamp. */
	currentOf(id: string, stamp: number): ConversationCopy | undefined {
		const copy = this.cache.get(id);
		return copy?.isLoaded && copy.stamp === stamp && !copy.isAhead && !copy.isHeadMissing ? copy : undefined;
	}

	/** The cache counts the new size of a copy. */
	private grown(copy: ConversationCopy): void {
		if (this.cache.get(copy.id) === copy) this.cache.put(copy);
	}

	/** Loads the state of the store into copies that have none. */
	private async loadNew(copies: readonly ConversationCopy[]): Promise<void> {
		if (copies.length === 0) return;
		const updateNumbers = copies.map(({ updateNumber }) => updateNumber);
		const briefs = await this.source.briefs([...new Set(copies.map(({ id }) => id))]);
		const byId = new Map(briefs.map((brief) => [brief.id, brief]));
		for (const [index, copy] of copies.entries()) {
			if (copy.updateNumber !== updateNumbers[index]) continue;
			if (!copy.load(byId.get(copy.id))) throw storeIsBehind();
			this.cache.put(copy);
		}
	}

	/** Rows count only if the store still has everything that these copies have from it. */
	private async reading<T>(copies: readonly ConversationCopy[], read: () => Promise<T>): Promise<T> {
		const since = copies.map(({ keptSince }) => keptSince);
		const [rows, briefs] = await Promise.all([read(), this.source.briefs(copies.map(({ id }) => id))]);
		const stamps = new Map(briefs.map(({ id, stamp }) => [id, stamp]));
		if (copies.some(({ id }, index) => (stamps.get(id) ?? 0) < (since[index] ?? 0))) throw storeIsBehind();
		return rows;
	}

	private async ask(copies: readonly ConversationCopy[]): Promise<CopyRequest[]> {
		const batches = new Set<NodeBatch>();
		const renewedSince = performance.now() - this.ttlSeconds * 1000 * RENEWED_AFTER;
		const requests = copies.map((copy) => {
			const request: CopyRequest = { copy, updateNumber: copy.updateNumber, answer: 'current' };
			const batch = this.batchFor(copy.slot);
			const isComparison = copy.isLoaded && copy.renewedMs > renewedSince;
			(isComparison ? batch.comparisons : batch.requests).push(request);
			batches.add(batch);
			return request;
		});
		await Promise.all([...batches].map(({ answered }) => answered.promise));
		return requests;
	}

	private batchFor(slot: number): NodeBatch {
		const node = this.nodeOf(slot);
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
			answered.resolve();
		} catch (error) {
			answered.reject(error);
		}
	}

	/** Returns those whose copies are not current. */
	private async compare(comparisons: readonly CopyRequest[]): Promise<readonly CopyRequest[]> {
		if (comparisons.length === 0) return comparisons;
		const first = comparisons[0]?.copy.id ?? '';
		const known = comparisons.map(({ copy }) => copy.version);
		const ids = comparisons.map(({ copy }) => copy.id).join(' ');
		const { commands, keys } = this;
		try {
			const answer = (await commands.versions(
				keys.version(first),
				sha1(known.join(' ')),
				keys.prefix,
				ids,
			)) as string;
			const current = answer === '' ? known : answer.split(' ');
			return comparisons.filter((request, index) => {
				if (current[index] !== known[index]) return true;
				confirm(request);
				return false;
			});
		} catch (error) {
			if (isElsewhere(error)) return comparisons;
			throw error;
		}
	}

	private async read(requests: readonly CopyRequest[]): Promise<void> {
		const { commands, keys, ttlSeconds } = this;
		if (requests.length === 0) return;
		const now = performance.now();
		for (const request of requests) request.updateNumber = request.copy.updateNumber;
		try {
			const answers = (await commands.views(
				keys.meta(requests[0]?.copy.id ?? ''),
				ttlSeconds,
				keys.prefix,
				...requests.flatMap(({ copy }) => copy.identity),
			)) as string[][];
			for (const [index, request] of requests.entries()) {
				request.copy.renewedMs = now;
				applyAnswer(request, answers[index] as string[]);
				if (request.copy.isLoaded) this.cache.put(request.copy);
			}
		} catch (error) {
			// A single request follows its slot to the current node.
			if (requests.length === 1 || !isElsewhere(error)) throw error;
			await Promise.all(requests.map((request) => this.read([request])));
		}
	}
}

const isIncomplete = ({ answer, copy }: CopyRequest): boolean =>
	answer !== 'current' || copy.isAhead || !copy.isLoaded || copy.isHeadMissing;

/** Changes if one of the copies becomes a copy of a different state: each number only rises. */
const statesOf = (copies: readonly ConversationCopy[]): number =>
	copies.reduce((sum, { stateNumber }) => sum + stateNumber, 0);

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** The copy was current when Redis answered, unless it changed during the request. */
function confirm({ copy, updateNumber }: CopyRequest): void {
	if (copy.updateNumber === updateNumber) copy.isAhead = false;
}

function applyAnswer(request: CopyRequest, answer: readonly string[]): void {
	const { copy, updateNumber } = request;
	if (copy.updateNumber !== updateNumber) request.answer = 'changed';
	else if (answer.length === 0) confirm(request);
	else if (Number(answer[0]) === -1) request.answer = 'absent';
	else {
		copy.applyAnswer(answer);
		request.answer = copy.isLoaded ? 'current' : 'changed';
	}
}

const storeIsBehind = (): Rejection =>
	new Rejection('service_unavailable', 'the database lacks changes that it had confirmed');

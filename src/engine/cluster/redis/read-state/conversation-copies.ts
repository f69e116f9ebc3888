import { createHash } from 'node:crypto';
import { Rejection } from '../../../../model/errors.ts';
import type { Numbering } from '../../../../model/numbering.ts';
import type { ConversationScope } from '../../../ports/views.ts';
import { TimelineLoader } from '../../../read-state/timeline-loader.ts';
import type { EpochToken, GuardPoint, IsOnNode } from '../epoch-guard.ts';
import { isElsewhere } from '../failure-cause.ts';
import { nodesOf } from '../slots.ts';
import type { Context } from './context.ts';
import { ConversationCopy } from './conversation-copy.ts';
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
/** A copy that has only the state of the store is loaded again if Redis last confirmed it before this time. */
export const confirmedSince = (ttlSeconds: number): number => performance.now() - (ttlSeconds * 1000) / 16;

interface CopyRequest {
	readonly copy: ConversationCopy;
	/** `updateNumber` of the copy at the time of the request. */
	updateNumber: number;
	/** Whether the copy was current when Redis answered. */
	isCurrent: boolean;
}

/** Requests to one node in one turn. */
class NodeBatch {
	/** Requests for known copies: only versions are compared. */
	readonly comparisons: CopyRequest[] = [];
	readonly reads: CopyRequest[] = [];
	readonly answered = Promise.withResolvers<void>();

	constructor(readonly token: EpochToken) {}

	get isFull(): boolean {
		return this.comparisons.length === COMPARISONS_PER_CALL || this.reads.length === READS_PER_CALL;
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

export class ConversationCopies {
	readonly cache: CopyCache<ConversationCopy>;
	private readonly nodeOf: (slot: number) => string;
	/** By node and epoch: sent at the end of this turn. */
	private readonly open = new Map<string, NodeBatch>();
	/** Loads older entries and threads. Afterwards the copies have to be brought up to date. */
	readonly loader: TimelineLoader<ConversationCopy>;

	constructor(private readonly context: Context) {
		this.cache = new CopyCache(context.viewBytes);
		this.nodeOf = nodesOf(context.commands);
		this.loader = new TimelineLoader({
			source: context.source,
			check: (copies) => this.checkStore(copies),
			onGrown: (copy) => {
				if (this.cache.get(copy.id) === copy) this.cache.put(copy);
			},
		});
	}

	/** Evicts the copies of conversations on a node. */
	drop(isOnNode: IsOnNode): void {
		this.cache.removeIf(({ slot }) => isOnNode(slot));
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
	async update(copies: readonly ConversationCopy[], { tokenOf }: GuardPoint): Promise<CopiesRead> {
		const before = statesOf(copies);
		const missing = new Set<ConversationCopy>();
		for (let left = copies; left.length > 0; ) {
			const requests = await this.ask(left, tokenOf);
			left = requests.filter(({ isCurrent, copy }) => !isCurrent || !copy.isUsable).map(({ copy }) => copy);
			for (const copy of await this.complete(left)) missing.add(copy);
			if (missing.size > 0) left = left.filter((copy) => !missing.has(copy));
		}
		return {
			copies: missing.size === 0 ? copies : copies.map((copy) => (missing.has(copy) ? null : copy)),
			haveChanged: () => statesOf(copies) !== before,
		};
	}

	/** Loads what these copies lack from the store. Returns copies of conversations that do not exist; update the others afterwards. */
	private async complete(copies: readonly ConversationCopy[]): Promise<readonly ConversationCopy[]> {
		const withoutStore = copies.filter((copy) => copy.needsStore);
		const absent = withoutStore.length > 0 ? await this.loadNew(withoutStore) : [];
		const withoutLatest = copies.filter((copy) => copy.isLatestUnknown);
		await Promise.all(withoutLatest.map((copy) => this.loader.loadPastNewest(copy)));
		return absent;
	}

	/** Loads the state of the store into copies that have none. Returns those whose conversation does not exist. */
	private async loadNew(copies: readonly ConversationCopy[]): Promise<readonly ConversationCopy[]> {
		const updateNumbers = copies.map(({ updateNumber }) => updateNumber);
		const briefs = await this.context.source.briefs([...new Set(copies.map(({ id }) => id))]);
		const byId = new Map(briefs.map((brief) => [brief.id, brief]));
		return copies.filter((copy, index) => {
			if (copy.updateNumber !== updateNumbers[index]) return false;
			if (copy.load(byId.get(copy.id))) this.cache.put(copy);
			else if (copy.keptSince > 0) throw storeIsBehind();
			return !copy.isLoaded;
		});
	}

	/** Rejects if the store is behind the stamp that it had reached before: rows then lack changes that the copies no longer keep. */
	private async checkStore(copies: readonly ConversationCopy[]): Promise<void> {
		const since = copies.map(({ keptSince }) => keptSince);
		const briefs = await this.context.source.briefs(copies.map(({ id }) => id));
		const stamps = new Map(briefs.map(({ id, stamp }) => [id, stamp]));
		if (copies.some(({ id }, index) => (stamps.get(id) ?? 0) < (since[index] ?? 0))) throw storeIsBehind();
	}

	private async ask(
		copies: readonly ConversationCopy[],
		tokenOf: GuardPoint['tokenOf'],
	): Promise<CopyRequest[]> {
		const batches = new Set<NodeBatch>();
		const since = confirmedSince(this.context.ttlSeconds);
		let node: string | undefined;
		let batch: NodeBatch | undefined;
		const requests = copies.map((copy) => {
			const nodeOfCopy = this.nodeOf(copy.slot);
			if (!batch || batch.isFull || node !== nodeOfCopy) {
				node = nodeOfCopy;
				batch = this.batchFor(node, tokenOf(copy.slot));
				batches.add(batch);
			}
			copy.expire(batch.token[1], since);
			const request: CopyRequest = { copy, updateNumber: copy.updateNumber, isCurrent: true };
			(copy.isLoaded ? batch.comparisons : batch.reads).push(request);
			return request;
		});
		await Promise.all([...batches].map(({ answered }) => answered.promise));
		return requests;
	}

	private batchFor(node: string, token: EpochToken): NodeBatch {
		const name = `${node} ${token[1]}`;
		const open = this.open.get(name);
		if (open && !open.isFull) return open;
		if (open) void this.send(open);
		else if (this.open.size === 0) queueMicrotask(() => this.sendOpen());
		const batch = new NodeBatch(token);
		this.open.set(name, batch);
		return batch;
	}

	private sendOpen(): void {
		for (const batch of this.open.values()) void this.send(batch);
		this.open.clear();
	}

	private async send({ comparisons, reads, answered, token }: NodeBatch): Promise<void> {
		// A caller that fails for another reason does not await it.
		answered.promise.catch(() => undefined);
		try {
			const [changed] = await Promise.all([this.compare(comparisons, token), this.read(reads, token)]);
			for (let from = 0; from < changed.length; from += READS_PER_CALL)
				await this.read(changed.slice(from, from + READS_PER_CALL), token);
			answered.resolve();
		} catch (error) {
			answered.reject(error);
		}
	}

	/** Returns those whose copies are not current. */
	private async compare(
		comparisons: readonly CopyRequest[],
		token: EpochToken,
	): Promise<readonly CopyRequest[]> {
		if (comparisons.length === 0) return comparisons;
		const first = comparisons[0]?.copy.id ?? '';
		const known = comparisons.map(({ copy }) => copy.version);
		const ids = comparisons.map(({ copy }) => copy.id).join(' ');
		const { commands, keys } = this.context;
		try {
			const answer = (await commands.versions(
				keys.version(first),
				...token,
				sha1(known.join(' ')),
				keys.prefix,
				ids,
			)) as string;
			const current = answer === '' ? known : answer.split(' ');
			const now = performance.now();
			return comparisons.filter((request, index) => {
				if (current[index] !== known[index]) return true;
				confirm(request, now);
				return false;
			});
		} catch (error) {
			if (isElsewhere(error)) return comparisons;
			throw error;
		}
	}

	private async read(requests: readonly CopyRequest[], token: EpochToken): Promise<void> {
		const { commands, keys } = this.context;
		if (requests.length === 0) return;
		for (const request of requests) request.updateNumber = request.copy.updateNumber;
		try {
			const answers = (await commands.views(
				keys.meta(requests[0]?.copy.id ?? ''),
				...token,
				keys.prefix,
				...requests.flatMap(({ copy: { id, stamp, base, lateSeen } }) => [id, stamp, base, lateSeen]),
			)) as string[][];
			for (const [index, request] of requests.entries()) {
				applyAnswer(request, answers[index] as string[], token[1]);
				if (request.copy.isLoaded) this.cache.put(request.copy);
			}
		} catch (error) {
			// A single request follows its slot to the current node.
			if (requests.length === 1 || !isElsewhere(error)) throw error;
			await Promise.all(requests.map((request) => this.read([request], token)));
		}
	}
}

/** Changes if one of the copies becomes a copy of a different state: each number only rises. */
const statesOf = (copies: readonly ConversationCopy[]): number =>
	copies.reduce((sum, { stateNumber }) => sum + stateNumber, 0);

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** The copy was current when Redis answered, unless it changed during the request. */
function confirm({ copy, updateNumber }: CopyRequest, nowMs = performance.now()): void {
	if (copy.updateNumber !== updateNumber) return;
	copy.mayHaveNewerRows = false;
	copy.checkedMs = nowMs;
}

function applyAnswer(request: CopyRequest, answer: readonly string[], epoch: string): void {
	const { copy } = request;
	request.isCurrent = copy.updateNumber === request.updateNumber;
	if (!request.isCurrent) return;
	if (answer.length === 0) confirm(request);
	else if (Number(answer[0]) === -1) copy.startFromStore(epoch);
	else copy.applyAnswer(answer);
	request.isCurrent = copy.isLoaded;
}

const storeIsBehind = (): Rejection =>
	new Rejection('service_unavailable', 'the database lacks changes that it had confirmed');

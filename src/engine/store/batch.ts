import type { Fact } from '../ports/facts.ts';
import { writeFact } from './ledger.ts';
import type { FactWriter } from './push-facts.ts';
import type { Param } from './sql.ts';
import type { BoundWrite, WriteSql, Writes } from './write-sql.ts';

/**
 * The statements of one transaction, and the promise that all its callers wait for: they succeed or fail
 * together. Statements and parameters are in two parallel arrays, without an object for each.
 */
export class Batch implements Writes {
	/** Null: replaced by a later statement for the same row. */
	readonly writes: (WriteSql | null)[] = [];
	readonly params: (readonly Param[])[] = [];
	readonly done: Promise<void>;
	readonly succeed: () => void;
	readonly fail: (error: Error) => void;
	/** Stamp of the newest fact. */
	newest = 0;
	private readonly places = new Map<string, number>();

	constructor(private readonly write: FactWriter = writeFact) {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		this.done = promise;
		this.succeed = resolve;
		this.fail = reject;
		// Callers that do not await it are informed of a failure by `onCommitFailure`.
		promise.catch(() => undefined);
	}

	get size(): number {
		return this.writes.length;
	}

	addFact(fact: Fact): void {
		this.write(fact, this);
		if (fact.at > this.newest) this.newest = fact.at;
	}

	addWrite({ write, params }: BoundWrite): void {
		this.add(write, params);
	}

	add(write: WriteSql, params: readonly Param[]): void {
		this.writes.push(write);
		this.params.push(params);
	}

	set(key: string, write: WriteSql, params: readonly Param[]): void {
		const earlier = this.places.get(key);
		if (earlier !== undefined) {
			this.writes[earlier] = null;
			this.params[earlier] = NOTHING;
		}
		this.places.set(key, this.writes.length);
		this.add(write, params);
	}
}

const NOTHING: readonly Param[] = [];

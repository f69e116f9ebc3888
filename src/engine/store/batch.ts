import type { Fact } from '../ports/facts.ts';
import { writeFact } from './ledger.ts';
import type { FactWriter } from './push-facts.ts';
import type { Param, Statement, Writes } from './sql.ts';

/**
 * The statements of one transaction, and the one promise that everybody waits on who put something in: they
 * stand or fall together. Texts and parameters lie in two arrays side by side, without an object for each.
 */
export class Batch implements Writes {
	/** An empty text was overtaken by a later one of the same row. */
	readonly texts: string[] = [];
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
		// Who hands over without waiting learns of a failure from `onCommitFailure`.
		promise.catch(() => undefined);
	}

	get size(): number {
		return this.texts.length;
	}

	addFact(fact: Fact): void {
		this.write(fact, this);
		if (fact.at > this.newest) this.newest = fact.at;
	}

	addStatement(statement: Statement): void {
		this.add(statement.sql, statement.params);
	}

	add(sql: string, params: readonly Param[]): void {
		this.texts.push(sql);
		this.params.push(params);
	}

	set(key: string, sql: string, params: readonly Param[]): void {
		const earlier = this.places.get(key);
		if (earlier !== undefined) {
			this.texts[earlier] = '';
			this.params[earlier] = NOTHING;
		}
		this.places.set(key, this.texts.length);
		this.add(sql, params);
	}
}

const NOTHING: readonly Param[] = [];

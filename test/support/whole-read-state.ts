import type { OnMoved, RepairProblem, Views } from '../../src/engine/ports/views.ts';
import type { Mark } from '../../src/model/cursor.ts';
import type { ErrorCode } from '../../src/model/errors.ts';
import type { CountRow, ThreadRow } from '../../src/model/rows.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import {
	type MarkAnswer,
	markChange,
	type OwnChange,
	type OwnDecision,
	type Preference,
	preferenceChange,
	type ThreadMark,
	threadMarkChange,
} from '../../src/unread/marking.ts';
import { ReadState } from '../../src/unread/read-state.ts';

/** A change that is applied, and perhaps not durable yet. */
interface Applied<Row> extends MarkAnswer<Row> {
	readonly durable: Promise<void>;
}

export type RowChange = Applied<CountRow>;
export type ThreadChange = Applied<ThreadRow>;

/** Queries, marks and effects on the same views. Marks resolve when they are applied, before `Marking` acknowledges them. */
export class WholeReadState extends ReadState {
	/** The store has all effects up to this stamp. */
	stored = 0;

	constructor(readonly port: Views) {
		super(port);
	}

	apply<T>(effects: readonly Effect[], onMoved: OnMoved<T>): Promise<T> {
		return this.port.apply(effects, this.stored, onMoved);
	}

	repair(user: string, conversation: string): Promise<'repaired' | RepairProblem> {
		return this.port.repair(user, conversation);
	}

	mark(
		user: string,
		conversation: string,
		mark: Mark,
		onDurable: (row: CountRow) => unknown,
	): Promise<RowChange | ErrorCode> {
		return this.change(user, markChange(conversation, mark), onDurable);
	}

	setPreference(
		user: string,
		conversation: string,
		preference: Preference,
		onDurable: (row: CountRow) => unknown,
	): Promise<RowChange | ErrorCode> {
		return this.change(user, preferenceChange(conversation, preference), onDurable);
	}

	markThread(
		user: string,
		conversation: string,
		threadTs: number,
		mark: ThreadMark,
		onDurable: (row: ThreadRow) => unknown,
	): Promise<ThreadChange | ErrorCode> {
		return this.change(user, threadMarkChange(conversation, threadTs, mark), onDurable);
	}

	private async change<Row>(
		user: string,
		change: OwnChange<Row>,
		onDurable: (row: Row) => unknown,
	): Promise<Applied<Row> | ErrorCode> {
		const applied = await this.port.change<OwnDecision, ErrorCode, Row>(user, { ...change, onDurable });
		if (applied === null || typeof applied === 'string') return applied ?? change.gone;
		const { decided, shown, durable } = applied;
		// A test that awaits it gets the error; others may end before it is durable.
		durable.catch(() => undefined);
		return { row: shown, ignored: decided.ignored ?? false, durable };
	}
}

import type { Engine } from '../../src/app/engine.ts';
import type { Ledger } from '../../src/engine/ports/store.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import type { ReadState } from '../../src/unread/read-state.ts';

/**
 * Deliberately wrong engines. Each violates one guarantee in the way real systems do; the contract suite must catch
 * every one of them.
 */

export interface Fault {
	readonly breaks: (engine: Engine) => Engine;
	/** The difference from the model that this fault causes; any other failure does not count as catching it. */
	readonly shows: RegExp;
}

const withReadState = (engine: Engine, changes: Partial<ReadState>): Engine => {
	const readState = new Proxy(engine.readState, {
		get: (target, name) => {
			const changed = changes[name as keyof ReadState];
			if (changed) return changed;
			const value = Reflect.get(target, name);
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});
	return { ...engine, readState };
};

const withLedger = (engine: Engine, changes: Partial<Ledger>): Engine => {
	const { ledger } = engine.store;
	const changed: Ledger = {
		commit: (facts) => ledger.commit(facts),
		flushed: () => ledger.flushed(),
		durable: () => ledger.durable(),
		...changes,
	};
	return { ...engine, store: { ...engine.store, ledger: changed } };
};

/** Acts on every nth call. */
const everyNth = (n: number) => {
	let calls = 0;
	return () => {
		calls += 1;
		return calls % n === 0;
	};
};

export const FAULTS: Readonly<Record<string, Fault>> = {
	'drops a delete': {
		shows: /: (rows|badge|threads|thread)\(.*oracle .*, server /,
		breaks: (engine) => {
			const { readState } = engine;
			const now = everyNth(3);
			return withReadState(engine, {
				apply: (effects, keep) =>
					readState.apply(
						effects.filter(({ type }) => type !== 'deleted' || !now()),
						keep,
					),
			});
		},
	},
	'loses a mark it acknowledged': {
		shows: /: rows\(.*\.(last_read|revision|unread_count|has_unreads): oracle /,
		breaks: (engine) => {
			const { readState } = engine;
			const now = everyNth(5);
			return withReadState(engine, {
				mark: async (user, conversation, mark, publish) => {
					if (!now()) return readState.mark(user, conversation, mark, publish);
					const row = await readState.row(user, conversation);
					return row ? { row, ignored: false, durable: null } : 'not_a_member';
				},
			});
		},
	},
	'takes an old revision for a new one': {
		shows: /mark answered ignored: false, the oracle says true/,
		breaks: (engine) => {
			const { readState } = engine;
			return withReadState(engine, {
				mark: (user, conversation, mark, publish) =>
					readState.mark(
						user,
						conversation,
						mark.type === 'read' ? { type: 'read', ts: mark.ts } : mark,
						publish,
					),
			});
		},
	},
	'counts a broadcast reply twice': {
		shows: /: badge\(\w+\): oracle \d+, server \d+/,
		breaks: (engine) => {
			const { readState } = engine;
			return withReadState(engine, {
				counts: async (user) => {
					const counts = await readState.counts(user);
					const broadcast = (await readState.threads(user)).filter(({ mentions, badge }) => mentions > badge);
					return { ...counts, badge: counts.badge + broadcast.length };
				},
			});
		},
	},
	'loses acknowledged facts when it stops': {
		shows: /: (timeline|thread|rows|members)\(.*: oracle .*, server /,
		breaks: (engine) => {
			const now = everyNth(40);
			const { ledger } = engine.store;
			return withLedger(engine, {
				commit: (facts) => (now() ? Promise.resolve() : ledger.commit(facts)),
			});
		},
	},
	'keeps counting archived conversations': {
		shows: /: rows\(\w+\)\.\w+: oracle undefined, server /,
		breaks: (engine) => {
			const { readState } = engine;
			return withReadState(engine, {
				apply: (effects, keep) =>
					readState.apply(
						effects.map((effect) =>
							effect.type === 'changed'
								? { ...effect, conversation: { ...effect.conversation, archived: false } }
								: effect,
						),
						keep,
					),
			});
		},
	},
	'applies messages in another order': {
		// A message that is held back is missing from its row, or cannot be marked.
		shows: /: rows\(\w+\)\.\w+\.\w+: oracle |: mark\w* failed: Rejection: message_not_found/,
		breaks: (engine) => {
			const { readState } = engine;
			const now = everyNth(4);
			let held: readonly Effect[] = [];
			return withReadState(engine, {
				apply: (effects, keep) => {
					const late = held;
					held = [];
					if (effects.some(({ type }) => type === 'posted') && now()) {
						held = effects;
						return readState.apply(late, keep);
					}
					return readState.apply([...effects, ...late], keep);
				},
			});
		},
	},
};

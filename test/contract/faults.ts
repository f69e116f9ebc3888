import type { Engine } from '../../src/app/engine.ts';
import type { Ledger } from '../../src/engine/ports/store.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import type { ReadState } from '../../src/unread/read-state.ts';

/**
 * Engines made wrong on purpose. Each breaks one promise in the way real systems do; a contract suite that
 * lets one of them pass is not worth its name.
 */

export type Fault = (engine: Engine) => Engine;

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
		settled: () => ledger.settled(),
		durable: () => ledger.durable(),
		...changes,
	};
	return { ...engine, store: { ...engine.store, ledger: changed } };
};

/** Every nth call of something. */
const everyNth = (n: number) => {
	let calls = 0;
	return () => {
		calls += 1;
		return calls % n === 0;
	};
};

export const FAULTS: Readonly<Record<string, Fault>> = {
	'drops a delete': (engine) => {
		const { readState } = engine;
		const now = everyNth(3);
		return withReadState(engine, {
			apply: (effects) => readState.apply(effects.filter(({ type }) => type !== 'deleted' || !now())),
		});
	},
	'loses a mark it acknowledged': (engine) => {
		const { readState } = engine;
		const now = everyNth(5);
		return withReadState(engine, {
			mark: async (user, conversation, mark, tell) => {
				if (!now()) return readState.mark(user, conversation, mark, tell);
				const row = await readState.row(user, conversation);
				return row ? { row, ignored: false, durable: null } : 'not_a_member';
			},
		});
	},
	'takes an old revision for a new one': (engine) => {
		const { readState } = engine;
		return withReadState(engine, {
			mark: (user, conversation, mark, tell) =>
				readState.mark(user, conversation, mark.type === 'read' ? { type: 'read', ts: mark.ts } : mark, tell),
		});
	},
	'counts a broadcast reply twice': (engine) => {
		const { readState } = engine;
		return withReadState(engine, {
			counts: async (user) => {
				const counts = await readState.counts(user);
				const broadcast = (await readState.threads(user)).filter(({ mentions, badge }) => mentions > badge);
				return { ...counts, badge: counts.badge + broadcast.length };
			},
		});
	},
	'forgets what it was told when it stops': (engine) => {
		const now = everyNth(40);
		const { ledger } = engine.store;
		return withLedger(engine, {
			commit: (facts) => (now() ? Promise.resolve() : ledger.commit(facts)),
		});
	},
	'keeps counting what was archived': (engine) => {
		const { readState } = engine;
		return withReadState(engine, {
			apply: (effects) =>
				readState.apply(
					effects.map((effect) =>
						effect.type === 'changed'
							? { ...effect, conversation: { ...effect.conversation, archived: false } }
							: effect,
					),
				),
		});
	},
	'takes messages in in another order': (engine) => {
		const { readState } = engine;
		const now = everyNth(4);
		let held: readonly Effect[] = [];
		return withReadState(engine, {
			apply: (effects) => {
				const late = held;
				held = [];
				if (effects.some(({ type }) => type === 'posted') && now()) {
					held = effects;
					return readState.apply(late);
				}
				return readState.apply([...effects, ...late]);
			},
		});
	},
};

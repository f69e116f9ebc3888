import type { Engine } from '../../src/app/engine.ts';
import type { Ledger } from '../../src/engine/ports/store.ts';
import type { ChangeRequest, Decided, Views } from '../../src/engine/ports/views.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { ReadState } from '../../src/unread/read-state.ts';

/**
 * Deliberately wrong engines. Each violates one guarantee in the way real systems do; the contract suite must catch
 * every one of them.
 */

export interface Fault {
	readonly breaks: (engine: Engine) => Engine;
	/** The difference from the model that this fault causes; any other failure does not count as catching it. */
	readonly shows: RegExp;
}

const changing = <T extends object>(changed: T, changes: Partial<T>): T =>
	new Proxy(changed, {
		get: (target, name) => {
			const value = Reflect.get(target, name);
			if (name in changes) return changes[name as keyof T];
			return typeof value === 'function' ? value.bind(target) : value;
		},
	});

const withViews = (engine: Engine, changes: Partial<Views>): Engine => {
	const views = changing(engine.views, changes);
	return { ...engine, views, readState: new ReadState(views) };
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

/** Decides as if no message had been marked unread yet, and restores the revision afterwards. */
const withoutRevisions = <D extends Decided, Problem extends string, T>(
	request: ChangeRequest<D, Problem, T>,
): ChangeRequest<D, Problem, T> => ({
	...request,
	decide: (views) => {
		let hidden = 0;
		const membership = (id: string) => {
			const found = views.user.membership(id);
			hidden = found?.revision ?? 0;
			return found && changing(found, { revision: 0 });
		};
		const decided = request.decide(changing(views, { user: changing(views.user, { membership }) }));
		if (typeof decided === 'string' || decided.change.type !== 'cursor') return decided;
		const { cursor } = decided.change;
		const restored = { ...cursor, revision: cursor.revision + hidden };
		return { ...decided, change: { ...decided.change, cursor: restored } };
	},
});

/** Returns a function that returns true on every nth call. */
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
			const { views } = engine;
			const now = everyNth(3);
			return withViews(engine, {
				apply: (effects, stored, keep) =>
					views.apply(
						effects.filter(({ type }) => type !== 'deleted' || !now()),
						stored,
						keep,
					),
			});
		},
	},
	'loses a mark it acknowledged': {
		shows: /: rows\(.*\.(last_read|revision|unread_count|has_unreads): oracle /,
		breaks: (engine) => {
			const { views } = engine;
			const now = everyNth(5);
			return withViews(engine, {
				change: async (user, request) => {
					const decided = await views.read(user, request.scope, request.decide);
					const isMark = typeof decided !== 'string' && decided.change.type === 'cursor';
					if (!isMark || !now()) return views.change(user, request);
					const shown = await views.read(user, request.showScope, request.show);
					return shown && { decided, shown, durable: Promise.resolve() };
				},
			});
		},
	},
	'takes an old revision for a new one': {
		shows: /mark answered ignored: false, the oracle says true/,
		breaks: (engine) => {
			const { views } = engine;
			return withViews(engine, {
				change: (user, request) => views.change(user, withoutRevisions(request)),
			});
		},
	},
	'counts a broadcast reply twice': {
		shows: /: badge\(\w+\): oracle \d+, server \d+/,
		breaks: (engine) => {
			const { readState } = engine;
			const counts = async (user: string) => {
				const counted = await readState.counts(user);
				const broadcast = (await readState.threads(user)).filter(({ mentions, badge }) => mentions > badge);
				return { ...counted, badge: counted.badge + broadcast.length };
			};
			return { ...engine, readState: changing(readState, { counts }) };
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
			const { views } = engine;
			return withViews(engine, {
				apply: (effects, stored, keep) =>
					views.apply(
						effects.map((effect) =>
							effect.type === 'changed'
								? { ...effect, conversation: { ...effect.conversation, archived: false } }
								: effect,
						),
						stored,
						keep,
					),
			});
		},
	},
	'applies messages in another order': {
		// A message that is held back is missing from its row, or cannot be marked.
		shows: /: rows\(\w+\)\.\w+\.\w+: oracle |: mark\w* failed: Rejection: message_not_found/,
		breaks: (engine) => {
			const { views } = engine;
			const now = everyNth(4);
			let held: readonly Effect[] = [];
			return withViews(engine, {
				apply: (effects, stored, keep) => {
					const late = held;
					held = [];
					if (effects.some(({ type }) => type === 'posted') && now()) {
						held = effects;
						return views.apply(late, stored, keep);
					}
					return views.apply([...effects, ...late], stored, keep);
				},
			});
		},
	},
};

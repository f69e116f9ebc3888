import { actors, type Book, type Cast } from '../kill-load.ts';
import { Random } from '../oracle/random.ts';
import { noRepeats, patientCall, type Repeats } from './patient-call.ts';
import { type ReplyBook, reply } from './replies.ts';

/**
 * Load on a cluster that partly fails: every actor repeats its request until it is acknowledged. Only a reply
 * with an unknown outcome is not repeated (replies.ts).
 */

export interface Load {
	/** Requests that had to be repeated. */
	readonly repeats: Repeats;
	/** Resolves when this many more changes are acknowledged. */
	acknowledged(more: number): Promise<void>;
	/** Resolves when every actor has finished its last request. */
	stop(): Promise<void>;
}

/** The pause between two steps of an actor, so that the machine can do other work. */
const PAUSE_MS = 20;
const WITHIN_MS = 200_000;

/** The number of writers that also reply in threads. */
const REPLIERS = 2;

export function startLoad(url: string, cast: Cast, book: Book, replies: ReplyBook, round: number): Load {
	const repeats = noRepeats();
	let stopped = false;
	let failure: unknown;
	const everybody = actors({
		cast,
		book,
		round,
		callOf: (person) => patientCall(url, person, repeats),
		onAck: () => undefined,
	});
	for (const [index, person] of cast.writers.slice(0, REPLIERS).entries())
		everybody.push({
			seed: round * 100 + 50 + index,
			step: (random, count) => reply(url, person, cast, replies, random, `${round}-${count}`),
		});
	const playing = everybody.map(async ({ step, seed }) => {
		const random = new Random(seed);
		for (let count = 0; !stopped; count += 1) {
			await step(random, count);
			await Bun.sleep(PAUSE_MS);
		}
	});
	const done = Promise.all(playing).catch((error) => {
		failure = error;
		stopped = true;
	});
	return {
		repeats,
		acknowledged: async (more) => {
			const wanted = book.acknowledged + more;
			const end = performance.now() + WITHIN_MS;
			while (book.acknowledged < wanted && !stopped) {
				if (performance.now() > end)
					throw new Error(`${wanted - book.acknowledged} of ${more} were not acknowledged`);
				await Bun.sleep(20);
			}
			if (failure) throw failure;
		},
		stop: async () => {
			stopped = true;
			await done;
			if (failure) throw failure;
		},
	};
}

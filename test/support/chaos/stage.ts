import { afterAll, beforeAll, expect } from 'bun:test';
import { type ClusterOptions, startCluster, type TestCluster } from '../cluster.ts';
import { type Cast, makeCast, newBook, type Sent } from '../kill-load.ts';
import { type OwnServices, ownServices, type Service } from '../services.ts';
import { sharedCluster } from '../shared-cluster.ts';
import { checkAll, checkLive, printFigures } from './check.ts';
import { type Load, startLoad } from './load.ts';
import { noRepeats, patientCall } from './patient-call.ts';
import { newReplyBook } from './replies.ts';
import { Watcher } from './watcher.ts';

/** A cluster for the tests of a file, its users, and the record of what the cluster acknowledged to them. */

export interface Stage {
	readonly cluster: TestCluster;
	readonly services: OwnServices;
	/** Runs load before, during and after the fault; then compares everything. */
	underLoad(what: string, happens: (load: Load) => Promise<void>): Promise<void>;
	/** As `underLoad`, but stops the load when the fault begins: later changes could hide a loss. */
	asLoadEnds(
		what: string,
		happens: () => Promise<void>,
		before?: (load: Load) => Promise<void>,
	): Promise<void>;
	/**
	 * A writer sends a message with this `client_msg_id` to the first channel, twice: both sends succeed at the
	 * first attempt, and return the same ts.
	 */
	sendTwice(id: string): Promise<void>;
	/**
	 * Every writer, reader and picker reads counts, and retries until that succeeds. If this loads state too
	 * early, later checks find wrong counts.
	 */
	look(): Promise<void>;
}

const BEFORE = 100;
const AFTER = 100;

export interface StageOptions {
	/**
	 * The file's own services, which it may break. Without any, and without `options`, the cluster is shared with other
	 * files.
	 */
	readonly own?: readonly Service[];
	/** Starts the cluster differently; gets the addresses of the file's own services. */
	readonly options?: (env: Readonly<Record<string, string>>) => ClusterOptions | Promise<ClusterOptions>;
}

export function setStage({ own = [], options }: StageOptions = {}): Stage {
	const isShared = own.length === 0 && !options;
	let cluster: TestCluster;
	let services: OwnServices;
	let cast: Cast;
	let rounds = 0;
	const book = newBook();
	const replies = newReplyBook();
	let watchers: readonly Watcher[] = [];
	beforeAll(async () => {
		services = await ownServices(...own);
		cluster = isShared
			? await sharedCluster()
			: await startCluster({
					services: { ...process.env, ...services.env },
					...(await options?.(services.env)),
				});
		cast = await makeCast(cluster.url, book);
		// One user who writes and one who marks.
		watchers = [
			new Watcher(cluster.url, cast.writers[1]!, cast.channels, true),
			new Watcher(cluster.url, cast.readers[0]!, cast.channels),
		];
		await Promise.all(watchers.map(({ ready }) => ready));
	}, 300_000);
	afterAll(async () => {
		await Promise.all(watchers.map((watcher) => watcher.stop()));
		if (!isShared) await cluster?.stop();
		await services?.down();
	}, 60_000);
	/** Persistence may wait for its next retry; until then the cluster rejects `conversations.history`. */
	async function caughtUp(): Promise<void> {
		const history = patientCall(cluster.url, cast.writers[0]!, noRepeats());
		for (const channel of cast.channels) await history('conversations.history', { channel, limit: 1 });
	}
	async function during(what: string, happens: (load: Load) => Promise<void>): Promise<void> {
		rounds += 1;
		const load = startLoad(cluster.url, cast, book, replies, rounds);
		try {
			await load.acknowledged(BEFORE);
			await happens(load);
		} finally {
			await load.stop();
		}
		await caughtUp();
		await checkAll(cluster.url, cast, book, replies);
		await checkLive(watchers);
		printFigures(what, book, replies, load.repeats, watchers);
	}
	return {
		get cluster() {
			return cluster;
		},
		get services() {
			return services;
		},
		sendTwice: async (id) => {
			const [{ id: user, call }, channel] = [cast.writers[0]!, cast.channels[0]!];
			const sent: Sent = { user, channel, id, ts: undefined, text: `sends ${id}` };
			book.sent.set(id, sent);
			const post = { channel, text: sent.text, client_msg_id: id };
			sent.ts = (await call('chat.postMessage', post)).ts;
			expect((await call('chat.postMessage', post)).ts).toBe(sent.ts);
		},
		look: async () => {
			const people = [...cast.writers, ...cast.readers, ...cast.pickers];
			await Promise.all(people.map((one) => patientCall(cluster.url, one, noRepeats())('client.counts')));
		},
		underLoad: (what, happens) =>
			during(what, async (load) => {
				await happens(load);
				await load.acknowledged(AFTER);
			}),
		asLoadEnds: (what, happens, before) =>
			during(what, async (load) => {
				await before?.(load);
				const stopped = load.stop();
				await happens();
				await stopped;
			}),
	};
}

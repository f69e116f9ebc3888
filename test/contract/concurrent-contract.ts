import { describe, expect, test } from 'bun:test';
import type { GatewayEngine } from '../../src/app/engine.ts';
import type { RowPosition } from '../../src/engine/ports/read-state.ts';
import { Rejection } from '../../src/model/errors.ts';
import type { Action } from '../../src/sequencer/commands.ts';
import { compareAll, emptyTally } from '../support/oracle/compare.ts';
import { byForeignMessages } from '../support/oracle/cursors.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { Random } from '../support/oracle/random.ts';
import type { PortsDriver } from '../support/ports-driver.ts';
import { type RowChange, type ThreadChange, WholeReadState } from '../support/whole-read-state.ts';
import type { TestedEngine } from './engines.ts';

/**
 * Several devices of several users at once. Each change returns its position. For a command, that is the stamp of its
 * conversation; for a mark, the stamp of the conversation when its row was counted, and the user's stamp. So positions define one order
 * of all changes: the oracle, fed in that order, must have the same counts. No position may be older than an earlier
 * acknowledged one: otherwise a change could be decided on outdated state and still look right.
 */

const USERS = Array.from({ length: 6 }, (_, index) => `U000USER0${index}`);
const DEVICES_PER_USER = 2;
const WORDS = ['tide', 'rope', '<!channel>', ...USERS.map((user) => `<@${user}>`)];

interface Recorded {
	readonly position: RowPosition;
	readonly feed: (oracle: Oracle) => void;
}

interface Posted {
	readonly c: string;
	readonly ts: number;
	readonly user: string;
	readonly threadTs: number | null;
}

/** One device, which performs its operations one after the other while the others perform theirs. */
async function useDevice(
	{ views }: GatewayEngine,
	{ submit }: PortsDriver,
	user: string,
	random: Random,
	world: {
		readonly conversations: readonly string[];
		readonly posts: Posted[];
		readonly history: Recorded[];
		/** By conversation: the newest stamp that a device has received. */
		readonly acknowledged: Map<string, number>;
	},
	operations: number,
): Promise<void> {
	const { posts, history, acknowledged } = world;
	const readState = new WholeReadState(views);
	const record = (position: RowPosition, feed: (oracle: Oracle) => void) =>
		void history.push({ position, feed });
	const text = () => `${random.pick(WORDS)} ${random.pick(WORDS)}`;
	/** Called only for operations that changed something: others have no place in the order. */
	const recording = (c: string, feed: (oracle: Oracle) => void) => {
		const before = acknowledged.get(c) ?? 0;
		return ({ position }: { readonly position: RowPosition }) => {
			expect(position.conversation).toBeGreaterThanOrEqual(before);
			record(position, feed);
		};
	};
	const marked = async (change: RowChange | ThreadChange | string) => {
		if (typeof change !== 'string') await change.durable;
	};
	const command = async (c: string, action: Action, feed: (oracle: Oracle, stamp: number) => void) => {
		const { message } = await submit(user, c, action);
		const stamp = message?.changedTs ?? 0;
		acknowledged.set(c, Math.max(acknowledged.get(c) ?? 0, stamp));
		record({ conversation: stamp, user: 0 }, (oracle) => feed(oracle, stamp));
		return message;
	};

	for (let step = 0; step < operations; step += 1) {
		const c = random.pick(world.conversations) as string;
		const recent = random.pickRecent(posts.filter((post) => post.c === c));
		const own = random.pickRecent(posts.filter((post) => post.c === c && post.user === user));
		const kind = random.weighted({
			post: 6,
			reply: 4,
			edit: 2,
			remove: 2,
			read: 3,
			unread: 2,
			one: 3,
			thread: 2,
			mute: 1,
		});
		try {
			if (kind === 'post' || kind === 'reply') {
				const threadTs = kind === 'reply' && recent ? (recent.threadTs ?? recent.ts) : null;
				const broadcast = threadTs !== null && random.chance(0.3);
				const said = text();
				const content = { text: said, extra: null };
				const action = { type: 'post', content, threadTs, broadcast, clientMsgId: null } as const;
				const options = threadTs === null ? {} : { threadTs, broadcast };
				const message = await command(c, action, (oracle, ts) => oracle.post(c, user, said, ts, options));
				if (message) posts.push({ c, ts: message.ts, user, threadTs });
			} else if (kind === 'edit' && own) {
				const said = text();
				const action = { type: 'edit', ts: own.ts, content: { text: said, extra: null } } as const;
				await command(c, action, (oracle, at) => oracle.edit(c, own.ts, said, at));
			} else if (kind === 'remove' && own) {
				await command(c, { type: 'delete', ts: own.ts }, (oracle) => oracle.remove(c, own.ts));
			} else if (kind === 'read' && recent) {
				const publish = recording(c, (oracle) => void oracle.mark(c, user, recent.ts));
				await marked(await readState.mark(user, c, { type: 'read', ts: recent.ts }, publish));
			} else if (kind === 'unread' && recent) {
				const publish = recording(c, (oracle) => oracle.markUnread(c, user, recent.ts));
				await marked(await readState.mark(user, c, { type: 'unread', ts: recent.ts }, publish));
			} else if (kind === 'one' && recent) {
				const publish = recording(c, (oracle) => oracle.markMessage(c, user, recent.ts));
				await marked(await readState.mark(user, c, { type: 'messages', tss: [recent.ts] }, publish));
			} else if (kind === 'thread' && recent?.threadTs) {
				const { threadTs, ts } = recent;
				const publish = recording(c, (oracle) => oracle.markThread(c, threadTs, user, ts));
				await marked(await readState.markThread(user, c, threadTs, { type: 'read', ts }, publish));
			} else if (kind === 'mute') {
				const muted = random.chance(0.5);
				const publish = recording(c, (oracle) => oracle.mute(c, user, muted));
				await marked(await readState.setPreference(user, c, { muted }, publish));
			}
		} catch (error) {
			// Another device was faster and deleted the message.
			if (!(error instanceof Rejection)) throw error;
		}
	}
}

export interface ConcurrentSuite {
	readonly seeds: readonly number[];
	readonly operationsPerDevice: number;
	/** Repairs everything repeatedly during the run: no change may be lost. */
	readonly repairing?: boolean;
	/**
	 * False in a cluster, where a mark is decided before it is counted: cursors may differ by messages that never count.
	 */
	readonly exactCursors?: boolean;
}

/** Repairs random users and conversations until the run is over. Returns the number of successful repairs. */
async function repairUntil(
	{ views }: GatewayEngine,
	conversations: readonly string[],
	random: Random,
	isOver: () => boolean,
): Promise<number> {
	let repaired = 0;
	// While a user changes all the time, an attempt may find the store behind; once the changes are over, one succeeds.
	while (!isOver() || repaired === 0) {
		const outcome = await views.repair(random.pick(USERS) as string, random.pick(conversations) as string);
		if (outcome === 'repaired') repaired += 1;
		await Bun.sleep(0);
	}
	return repaired;
}

export function describeConcurrentDevices<E extends GatewayEngine>(
	engine: TestedEngine<E>,
	{ seeds, operationsPerDevice, repairing = false, exactCursors = true }: ConcurrentSuite,
): void {
	describe(`${engine.name} engine`, () => {
		for (const seed of seeds) {
			test(`${USERS.length * DEVICES_PER_USER} devices at once${repairing ? ', and repairs' : ''}, seed ${seed}: counts follow the order of positions`, async () => {
				const place = await engine.place();
				const opened = await place.open();
				const driver = engine.drive(opened);
				const oracle = new Oracle();
				const conversations: string[] = [];
				for (const kind of ['public', 'private', 'im', 'mpim'] as const) {
					const members = kind === 'im' ? USERS.slice(0, 2) : USERS;
					const { id, at } = await driver.createConversation(kind, members, kind);
					oracle.createConversation(id, kind, members, at);
					conversations.push(id);
				}
				const world = {
					conversations,
					posts: [] as Posted[],
					history: [] as Recorded[],
					acknowledged: new Map(),
				};
				let isOver = false;
				const repairs = repairing
					? repairUntil(opened, conversations, new Random(seed), () => isOver)
					: Promise.resolve(0);
				await Promise.all(
					USERS.flatMap((user, index) =>
						Array.from({ length: DEVICES_PER_USER }, (_, device) =>
							useDevice(
								opened,
								driver,
								user,
								new Random(seed * 1000 + index * 10 + device),
								world,
								operationsPerDevice,
							),
						),
					),
				);
				isOver = true;
				if (repairing) expect(await repairs).toBeGreaterThan(0);
				world.history.sort(
					({ position: a }, { position: b }) => a.conversation - b.conversation || a.user - b.user,
				);
				for (const { feed } of world.history) feed(oracle);
				expect(world.history.length).toBeGreaterThan(USERS.length * operationsPerDevice);
				const compared = exactCursors ? { driver, oracle } : byForeignMessages(driver, oracle, world.posts);
				const scene = { users: USERS, conversations };
				expect(await compareAll(compared.driver, compared.oracle, scene, emptyTally())).toBeUndefined();
				await driver.close();
				await place.remove();
			});
		}
	});
}

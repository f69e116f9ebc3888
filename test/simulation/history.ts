import { compareAll, emptyTally } from '../support/oracle/compare.ts';
import type { Driver } from '../support/oracle/driver.ts';
import { CONVERSATIONS, randomHistory } from '../support/oracle/history.ts';
import type { Operation, PlannedOperation } from '../support/oracle/operations.ts';
import type { Oracle } from '../support/oracle/oracle.ts';
import { perform } from '../support/oracle/perform.ts';
import { resolve } from '../support/oracle/resolve.ts';
import { micros, type Person } from '../support/people.ts';
import type { Beginning } from './beginning.ts';
import { Chaos } from './chaos.ts';
import { Device } from './device.ts';
import { EXTRA_STEPS, echo, takeBack } from './extras.ts';
import { FollowingOracle } from './following-oracle.ts';
import { comparing, driverOf } from './people.ts';
import { OF_A_PHONE, type Posted, postedIn } from './phones.ts';
import { Round } from './round.ts';
import type { Process } from './scheduler.ts';
import type { Shape, World } from './world.ts';

/**
 * One history: rounds of operations that run at the same time while faults are injected. The judge checks each round once all operations
 * are answered and all faults are over.
 */

export interface Plan {
	readonly seed: number;
	readonly rounds: number;
	readonly perRound: number;
	/** Which faults are injected. */
	readonly faults: readonly string[];
	/** Operations to leave out, by step number; used to shorten a failed history. */
	readonly without: ReadonlySet<number>;
}

export class Mismatch extends Error {}

interface Focus {
	readonly device: Device;
	readonly conversation: string;
}

interface Done {
	readonly operation: Operation;
	/** ts of the posted message; 0 for other operations. */
	readonly ts: number;
	readonly ignored: boolean;
}

/** More marks, joins and leaves than usual, because a history has few rounds. */
const MIX = {
	// Devices that connect and are cut change presence often enough.
	weights: { setActive: 0, mark: 20, markUnread: 14, markMessage: 10, join: 6, leave: 4, kick: 2 },
} as const;
/** How long acknowledged changes may take to reach every screen, and the pause between two checks. */
const SCREENS_MS = [60_000, 3_000] as const;
/** Within this time, every server learns the connections of all other servers. */
const PRESENCE_MS = 5_000;
/** Push waits longer: for leases of workers that died, after busy answers, and for clocks that were set back. */
const PHONES_MS = [900_000, 30_000] as const;
/** The operations of a round begin within one of these times, in ms. */
const SPREADS_MS = [3, 30, 200];
/** Chance that a device has a conversation in focus during a round, and that it puts it in focus again when all faults are over. */
const FOCUS_CHANCE = 0.4;
const CALM_FOCUS_CHANCE = 0.3;
/** Longer than a stalled socket, a subscriber that receives nothing or a paused process lasts. */
const QUIET_MS = 30_000;
/** Within this time, the server learns of the focus. */
const FOCUSED_MS = 1_000;
/** Within this time, the server marks the last messages in focus. */
const BLURRED_MS = 2_000;
/** For each device, the index of its user; the first user has two. */
const DEVICES_OF = [0, 0, 1, 2];
/** Chance that a user with a device posts from it, and not over the Web API. */
const BY_DEVICE = 0.8;

const conversationsOf = (operation: Operation): string[] =>
	'conversation' in operation ? [operation.conversation] : [];

export class History {
	private readonly judge: Process;
	private readonly oracle = new FollowingOracle();
	private readonly chaos: Chaos;
	private readonly devices: Device[] = [];
	/** By conversation and user: how often a repeated mark unread may have been applied. */
	private readonly unreadAttempts = new Map<string, number>();
	private readonly driver: Driver;
	private readonly people: readonly Person[];
	private readonly conversations: string[] = [];
	/** Posts of the last round, with the users who must have been notified of each. */
	private posted: readonly Posted[] = [];
	/** The focus of this round, and of all rounds so far. */
	private focus: Focus | null = null;
	private readonly focuses: Focus[] = [];
	/** Operations of the last round. */
	private before: readonly Operation[] = [];
	/** Conversations that operations were about. */
	private readonly touched = new Set<string>();
	/** By message: the users who may see it. */
	private readonly visible = new Map<string, ReadonlySet<string>>();

	constructor(
		private readonly world: World,
		private readonly shape: Shape,
		private readonly plan: Plan,
		private readonly beginning: Beginning,
	) {
		this.judge = world.scheduler.process('judge');
		({ people: this.people, driver: this.driver } = driverOf(
			world,
			shape,
			this.judge,
			beginning.people,
			(user, method, { channel }, attempts) => {
				if (method === 'conversations.markUnread') this.unreadAttempts.set(`${channel} ${user}`, attempts);
			},
		));
		for (const { id, token } of beginning.people) world.network.users.set(token, id);
		this.chaos = new Chaos(world, shape, plan.faults);
	}

	/** Call it once. Rejects with the first mismatch. */
	begin(): Promise<void> {
		const { scheduler } = this.world;
		return new Promise((done, fail) => {
			scheduler.at(this.judge, 0, 'begins', () => {
				this.run().then(done, fail);
			});
		});
	}

	private async run(): Promise<void> {
		this.shape.start();
		await this.prepare();
		const operations = [...randomHistory(this.plan.seed, this.plan.rounds * this.plan.perRound, MIX)].filter(
			({ kind }) => kind !== 'create',
		);
		let next = 0;
		for (let number = 1; number <= this.plan.rounds; number += 1) {
			const planned = operations.slice(next, next + this.plan.perRound);
			next += this.plan.perRound;
			this.world.scheduler.note(`round ${number}`);
			const withinMs = this.world.scheduler.random.pick(SPREADS_MS) as number;
			this.chaos.begin(withinMs);
			const done = await this.performAll(number, planned, withinMs);
			this.chaos.end();
			await this.endFocus();
			await this.feed(done);
			const { focus } = this;
			this.posted = postedIn(
				this.oracle,
				done,
				focus && { user: focus.device.person.id, conversation: focus.conversation },
			);
			const touched = new Set(done.flatMap(({ operation }) => conversationsOf(operation)));
			for (const id of touched) this.touched.add(id);
			await this.check(touched);
			this.world.calm();
		}
		if (this.focus && this.world.scheduler.random.chance(CALM_FOCUS_CHANCE))
			await this.focusWhenCalm(this.focus);
		this.world.scheduler.note('everything is started again');
		for (const process of this.shape.processes) if (process.alive) this.shape.crash(process);
		if (this.world.scheduler.random.chance(0.5)) this.shape.loseVolatileState();
		await this.untilUp();
		await this.check(null);
		this.checkVisible();
		for (const device of this.devices) device.end();
	}

	private async prepare(): Promise<void> {
		const { world, shape, beginning } = this;
		await this.untilUp();
		for (const [slot, { id, at }] of beginning.conversations.entries()) {
			const { type, members } = CONVERSATIONS[slot] as (typeof CONVERSATIONS)[number];
			this.conversations.push(id);
			const ids = members.map((index) => this.people[index]?.id as string);
			this.oracle.createConversation(id, type, ids, at);
		}
		for (const [index, user] of DEVICES_OF.entries())
			this.devices.push(new Device(world, shape, this.people[user] as Person, `device-${index}`));
	}

	private async performAll(
		number: number,
		planned: readonly PlannedOperation[],
		withinMs: number,
	): Promise<Done[]> {
		const { scheduler } = this.world;
		this.focus = this.chooseFocus(number);
		if (this.focus) this.focuses.push(this.focus);
		await this.focus?.device.focus(this.judge, this.focus.conversation);
		const operations = this.chooseOperations(number, planned);
		this.before = operations;
		return Promise.all(
			operations.map(async (operation) => {
				await Bun.sleep(scheduler.random.next() * withinMs);
				scheduler.note(`asks ${JSON.stringify(operation)}`);
				return this.performOne(operation);
			}),
		);
	}

	private chooseOperations(number: number, planned: readonly PlannedOperation[]): readonly Operation[] {
		const { oracle, conversations } = this;
		const { random } = this.world.scheduler;
		const world = { users: this.people.map(({ id }) => id), conversations };
		const round = new Round(oracle);
		if (this.focus) round.addFocus(this.focus.conversation, this.focus.device.person.id);
		const leftOut: Operation[] = [];
		const offer = (step: number, operation: Operation | undefined): void => {
			if (operation && round.offer(operation) && this.plan.without.has(step)) leftOut.push(operation);
		};
		offer(EXTRA_STEPS.takeBack + number, takeBack(random, oracle, this.before));
		for (const each of planned) offer(each.step, resolve(each, oracle, world));
		offer(EXTRA_STEPS.echo + number, echo(random, oracle, round.operations));
		return round.operations.filter((operation) => !leftOut.includes(operation));
	}

	/** Messages that are not confirmed yet stay unread. Waits until marks in flight are applied, before the round is judged. */
	private async endFocus(): Promise<void> {
		if (!this.focus) return;
		await this.focus.device.blur(this.judge, this.focus.conversation);
		await Bun.sleep(BLURRED_MS);
	}

	private chooseFocus(number: number): Focus | null {
		const { random } = this.world.scheduler;
		const isDrawn = random.chance(FOCUS_CHANCE);
		const device = random.pick(this.devices) as Device;
		const { id } = device.person;
		const conversation = random.pick(
			this.conversations.filter(
				(one) => !this.oracle.conversation(one).archived && this.oracle.members(one).includes(id),
			),
		);
		if (!isDrawn || conversation === undefined || this.plan.without.has(EXTRA_STEPS.focus + number))
			return null;
		return { device, conversation };
	}

	/**
	 * All faults are over and the device is connected, so a message that arrives while the conversation is in focus must become read.
	 */
	private async focusWhenCalm({ device, conversation }: Focus): Promise<void> {
		const { id } = device.person;
		const author = this.oracle.members(conversation).find((member) => member !== id);
		if (author === undefined || this.oracle.conversation(conversation).archived) return;
		this.world.scheduler.note('all faults are over, and a device has a conversation in focus');
		await Bun.sleep(QUIET_MS);
		await device.focus(this.judge, conversation);
		await Bun.sleep(FOCUSED_MS);
		const operation: Operation = { kind: 'post', conversation, user: author, text: 'look' };
		const done = await this.performOne(operation);
		await this.feed([done]);
		this.oracle.markMessage(conversation, id, done.ts);
		this.posted = [];
		this.touched.add(conversation);
		await this.check(new Set([conversation]));
	}

	/** Performs the operation on the server only; `feed` passes it to the oracle later, in the order of stamps. */
	private async performOne(operation: Operation): Promise<Done> {
		let [ts, ignored] = [0, false];
		const members =
			'conversation' in operation ? new Set(this.oracle.members(operation.conversation)) : new Set<string>();
		const posting: Driver = {
			...this.driver,
			post: async (conversation, user, text, options) => {
				const device = this.devices.find(({ person }) => person.id === user);
				const byDevice = operation.kind === 'post' && device && this.world.scheduler.random.chance(BY_DEVICE);
				ts = byDevice
					? micros(await device.post(this.judge, conversation, text))
					: await this.driver.post(conversation, user, text, options);
				this.visible.set(`${conversation} ${ts}`, members);
				return ts;
			},
			mark: async (...args) => {
				const answer = await this.driver.mark(...args);
				({ ignored } = answer);
				return answer;
			},
		};
		const noOracle = new Proxy({} as Oracle, {
			get: (_, name) =>
				name === 'messages' ? () => [] : name === 'mark' ? () => ({ ignored }) : () => undefined,
		});
		await perform(posting, noOracle, { users: [], conversations: [] }, operation);
		return { operation, ts, ignored };
	}

	private async feed(done: readonly Done[]): Promise<void> {
		const world = { users: this.people.map(({ id }) => id), conversations: this.conversations };
		for (const { operation, ts, ignored } of [...done].sort((a, b) => a.ts - b.ts)) {
			const ignore = async () => undefined;
			const replay = new Proxy({} as Driver, {
				get: (_, name) =>
					name === 'post' ? async () => ts : name === 'mark' ? async () => ({ ignored }) : ignore,
			});
			await perform(replay, this.oracle, world, operation);
			if (operation.kind === 'markUnread') await this.agreeOnRevision(operation);
		}
	}

	/** An unanswered attempt may have raised the revision as well. */
	private async agreeOnRevision({ conversation, user, ts }: Extract<Operation, { kind: 'markUnread' }>) {
		const attempts = this.unreadAttempts.get(`${conversation} ${user}`) ?? 1;
		this.unreadAttempts.delete(`${conversation} ${user}`);
		if (attempts === 1) return;
		const revision = (await this.driver.rows?.(user))?.[conversation]?.revision ?? 0;
		for (let extra = 1; extra < attempts; extra += 1)
			if ((this.oracle.row(user, conversation)?.revision ?? revision) < revision)
				this.oracle.markUnread(conversation, user, ts);
	}

	private async untilUp(): Promise<void> {
		while (!this.shape.isUp()) await Bun.sleep(50);
	}

	/** Checks all counts, and what devices show of these conversations; null: of all conversations that the history touched. */
	private async check(touched: ReadonlySet<string> | null): Promise<void> {
		await this.untilUp();
		const { scheduler } = this.world;
		const began = scheduler.now;
		for (;;) {
			await this.learnFocus();
			const wrong = await this.mismatch(touched);
			if (!wrong) return this.oracle.settle((user, ts, active) => this.shape.isDurable({ user, ts, active }));
			const [timeout, pause] = wrong.startsWith(OF_A_PHONE) ? PHONES_MS : SCREENS_MS;
			if (scheduler.now > began + timeout) throw new Mismatch(wrong);
			const isLate = scheduler.now > began + PRESENCE_MS;
			if (!isLate || !(await this.learnPresence())) await Bun.sleep(pause);
		}
	}

	/**
	 * Which messages a device confirmed in focus depends on when its connection was cut. The oracle learns that from the server, but accepts
	 * as read only messages that a device of the user received.
	 */
	private async learnFocus(): Promise<void> {
		for (const { device, conversation } of this.focuses) {
			const { id } = device.person;
			const delivered = this.deliveredTo(id, conversation);
			const open = this.oracle.row(id, conversation)
				? this.oracle.unreads(id, conversation).filter((ts) => delivered.has(ts))
				: [];
			if (open.length === 0) continue;
			// A server that has just restarted may not have the newest messages yet: they are neither read nor unread.
			const before = await this.latestOf(id, conversation);
			const unread = new Set(await this.driver.unreads?.(id, conversation));
			const latest = Math.min(before, await this.latestOf(id, conversation));
			for (const ts of open)
				if (ts <= latest && !unread.has(ts)) this.oracle.markMessage(conversation, id, ts);
		}
	}

	/** The newest message that the user's counts include. */
	private async latestOf(user: string, conversation: string): Promise<number> {
		return (await this.driver.rows?.(user))?.[conversation]?.latest ?? 0;
	}

	private deliveredTo(user: string, conversation: string): ReadonlySet<number> {
		const own = new Set(
			this.devices.filter(({ person }) => person.id === user).map(({ process }) => process),
		);
		const frames = this.world.network.frames.filter(
			({ client, frame }) => own.has(client) && frame.channel === conversation,
		);
		return new Set(frames.map(({ frame }) => micros(frame.ts)));
	}

	private async learnPresence(): Promise<boolean> {
		let hasLearned = false;
		for (const id of new Set(this.devices.map(({ person }) => person.id))) {
			const explained = (await this.driver.explain?.(id)) ?? [];
			const rows = (await this.driver.rows?.(id)) ?? {};
			hasLearned = this.oracle.learnPresence(id, explained, rows) || hasLearned;
		}
		return hasLearned;
	}

	private async mismatch(touched: ReadonlySet<string> | null): Promise<string | null> {
		const users = this.people.map(({ id }) => id);
		const { driver, counts } = comparing(this.people);
		// Between rounds only the counts, which are cheap. They must be compared now: a later reload could hide wrong state in memory.
		const asked = touched === null ? driver : counts;
		const world = { users, conversations: touched === null ? [...this.touched] : [] };
		const found = await compareAll(asked, this.oracle, world, emptyTally());
		if (found)
			return `${found.path}: oracle ${JSON.stringify(found.oracle)}, server ${JSON.stringify(found.server)}`;
		const pushed = this.world.phones?.mismatch(this.oracle, users, this.posted) ?? null;
		if (pushed !== null) return pushed;
		for (const device of this.devices) {
			const found = await device.difference(this.judge, touched ?? this.touched);
			if (found)
				return `${found.path}: fresh ${JSON.stringify(found.oracle)}, shown ${JSON.stringify(found.server)}`;
		}
		return null;
	}

	private checkVisible(): void {
		for (const { client, frame } of this.world.network.frames) {
			const device = this.devices.find(({ process }) => process === client);
			const members = this.visible.get(`${frame.channel} ${micros(frame.ts)}`);
			if (device && members && !members.has(device.person.id))
				throw new Mismatch(
					`${device.process.name} received ${frame.ts} of ${frame.channel}, but its user was not a member`,
				);
		}
	}
}

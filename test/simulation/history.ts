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
 * One history: rounds of operations that run at the same time while things go wrong, each round judged when everything that
 * was asked for has an answer and nothing is wrong any more.
 */

export interface Plan {
	readonly seed: number;
	readonly rounds: number;
	readonly perRound: number;
	/** Which faults are injected. */
	readonly faults: readonly string[];
	/** Operations that are left out, by their step: what shortening a failed history tries. */
	readonly without: ReadonlySet<number>;
}

export class Wrong extends Error {}

interface Look {
	readonly device: Device;
	readonly conversation: string;
}

interface Done {
	readonly operation: Operation;
	/** Of a post. */
	readonly ts: number;
	readonly ignored: boolean;
}

/** Marks and what takes them back more often than people do: rounds are few. */
const MIX = {
	// Devices connect and are cut: that is presence enough.
	weights: { setActive: 0, mark: 20, markUnread: 14, markMessage: 10, join: 6, leave: 4, kick: 2 },
} as const;
/** How long what was acknowledged may take to be everywhere, and after which time to look again. */
const SCREENS_MS = [60_000, 3_000] as const;
/** When all that servers have to know of each other's connections is known. */
const PRESENCE_MS = 5_000;
/** Push waits longer: for leases of workers that died, after busy answers, and for clocks that were set back. */
const PHONES_MS = [900_000, 30_000] as const;
/** Operations of a round begin within so many milliseconds of each other, one of these. */
const SPREADS_MS = [3, 30, 200];
/** Chance that a device has a conversation in focus during a round, and that it looks again when all is quiet. */
const LOOK = 0.4;
const LOOK_IN_PEACE = 0.3;
/** Longer than a stalled socket, a deaf subscriber or a paused process lasts. */
const QUIET_MS = 30_000;
/** Until the server knows of the focus. */
const FOCUSED_MS = 1_000;
/** Until the last messages in focus are marked. */
const BLURRED_MS = 2_000;
/** Users by their devices: one of them has two. */
const DEVICES_OF = [0, 0, 1, 2];
/** Chance that a user who has a device posts with it, not by the Web API. */
const BY_DEVICE = 0.8;

const conversationsOf = (operation: Operation): string[] =>
	'conversation' in operation ? [operation.conversation] : [];

export class History {
	private readonly judge: Process;
	private readonly oracle = new FollowingOracle();
	private readonly chaos: Chaos;
	private readonly devices: Device[] = [];
	/** How often a mark as unread may have been carried out. */
	private readonly unreadAttempts = new Map<string, number>();
	private readonly driver: Driver;
	private readonly people: readonly Person[];
	private readonly conversations: string[] = [];
	/** Messages of the last round that phones have to have been notified of. */
	private posted: readonly Posted[] = [];
	/** The device that has a conversation in focus in this round; and all there were. */
	private looking: Look | null = null;
	private readonly looks: Look[] = [];
	/** Operations of the last round. */
	private before: readonly Operation[] = [];
	/** Conversations that operations were about. */
	private readonly touched = new Set<string>();
	/** Of each message, who may see it. */
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

	/** To be called once; rejects with what is wrong. */
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
			await this.lookAway();
			await this.feed(done);
			const { looking } = this;
			this.posted = postedIn(
				this.oracle,
				done,
				looking && { user: looking.device.person.id, conversation: looking.conversation },
			);
			const touched = new Set(done.flatMap(({ operation }) => conversationsOf(operation)));
			for (const id of touched) this.touched.add(id);
			await this.check(touched);
			this.world.calm();
		}
		if (this.looking && this.world.scheduler.random.chance(LOOK_IN_PEACE))
			await this.lookInPeace(this.looking);
		this.world.scheduler.note('everything is started again');
		for (const process of this.shape.processes) if (process.alive) this.shape.crash(process);
		if (this.world.scheduler.random.chance(0.5)) this.shape.forget();
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
		this.looking = this.chooseLook(number);
		if (this.looking) this.looks.push(this.looking);
		await this.looking?.device.focus(this.judge, this.looking.conversation);
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
		if (this.looking) round.look(this.looking.conversation, this.looking.device.person.id);
		const left: Operation[] = [];
		const offer = (step: number, operation: Operation | undefined): void => {
			if (operation && round.offer(operation) && this.plan.without.has(step)) left.push(operation);
		};
		offer(EXTRA_STEPS.takeBack + number, takeBack(random, oracle, this.before));
		for (const each of planned) offer(each.step, resolve(each, oracle, world));
		offer(EXTRA_STEPS.echo + number, echo(random, oracle, round.operations));
		return round.operations.filter((operation) => !left.includes(operation));
	}

	/** Messages that are not confirmed yet stay unread; marks under way are carried out before the round is judged. */
	private async lookAway(): Promise<void> {
		if (!this.looking) return;
		await this.looking.device.blur(this.judge, this.looking.conversation);
		await Bun.sleep(BLURRED_MS);
	}

	private chooseLook(number: number): Look | null {
		const { random } = this.world.scheduler;
		const isDrawn = random.chance(LOOK);
		const device = random.pick(this.devices) as Device;
		const { id } = device.person;
		const conversation = random.pick(
			this.conversations.filter(
				(one) => !this.oracle.conversation(one).archived && this.oracle.members(one).includes(id),
			),
		);
		if (!isDrawn || conversation === undefined || this.plan.without.has(EXTRA_STEPS.look + number))
			return null;
		return { device, conversation };
	}

	/**
	 * Nothing is wrong any more, and the device is connected: a message that arrives while its user looks has to be read.
	 */
	private async lookInPeace({ device, conversation }: Look): Promise<void> {
		const { id } = device.person;
		const author = this.oracle.members(conversation).find((member) => member !== id);
		if (author === undefined || this.oracle.conversation(conversation).archived) return;
		this.world.scheduler.note('everything is quiet, and a device looks');
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

	/** On the server alone: the oracle hears of it in the order that it took place in. */
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
		const nobody = new Proxy({} as Oracle, {
			get: (_, name) =>
				name === 'messages' ? () => [] : name === 'mark' ? () => ({ ignored }) : () => undefined,
		});
		await perform(posting, nobody, { users: [], conversations: [] }, operation);
		return { operation, ts, ignored };
	}

	private async feed(done: readonly Done[]): Promise<void> {
		const world = { users: this.people.map(({ id }) => id), conversations: this.conversations };
		for (const { operation, ts, ignored } of [...done].sort((a, b) => a.ts - b.ts)) {
			const told = async () => undefined;
			const replay = new Proxy({} as Driver, {
				get: (_, name) =>
					name === 'post' ? async () => ts : name === 'mark' ? async () => ({ ignored }) : told,
			});
			await perform(replay, this.oracle, world, operation);
			if (operation.kind === 'markUnread') await this.agreeOnRevision(operation);
		}
	}

	/** An attempt that nobody answered may have raised the revision as well. */
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

	/** All counts, and what devices show of these conversations; null: everything that the history touched. */
	private async check(touched: ReadonlySet<string> | null): Promise<void> {
		await this.untilUp();
		const { scheduler } = this.world;
		const began = scheduler.now;
		for (;;) {
			await this.learnFocus();
			const wrong = await this.wrong(touched);
			if (!wrong) return this.oracle.settle((user, ts, active) => this.shape.isDurable({ user, ts, active }));
			const [patience, pause] = wrong.startsWith(OF_A_PHONE) ? PHONES_MS : SCREENS_MS;
			if (scheduler.now > began + patience) throw new Wrong(wrong);
			const isLate = scheduler.now > began + PRESENCE_MS;
			if (!isLate || !(await this.learnPresence())) await Bun.sleep(pause);
		}
	}

	/**
	 * Which messages a device confirmed while its user looked depends on when it was cut. The oracle takes that from the server, but
	 * accepts as read only messages that a device of the user received.
	 */
	private async learnFocus(): Promise<void> {
		for (const { device, conversation } of this.looks) {
			const { id } = device.person;
			const delivered = this.deliveredTo(id, conversation);
			const open = this.oracle.row(id, conversation)
				? this.oracle.unreads(id, conversation).filter((ts) => delivered.has(ts))
				: [];
			if (open.length === 0) continue;
			// A server that has just lost power does not have the newest messages yet: they are not unread, and not read either.
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

	private async wrong(touched: ReadonlySet<string> | null): Promise<string | null> {
		const users = this.people.map(({ id }) => id);
		const { driver, counts } = comparing(this.people);
		// Between rounds the counts alone: they cost little, and what is wrong in memory may be loaded correctly later.
		const asked = touched === null ? driver : counts;
		const world = { users, conversations: touched === null ? [...this.touched] : [] };
		const found = await compareAll(asked, this.oracle, world, emptyTally());
		if (found)
			return `${found.path}: oracle ${JSON.stringify(found.oracle)}, server ${JSON.stringify(found.server)}`;
		const pushed = this.world.phones?.wrong(this.oracle, users, this.posted) ?? null;
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
				throw new Wrong(
					`${device.process.name} saw ${frame.ts} of ${frame.channel}, whose members are others`,
				);
		}
	}
}

import { EventEmitter } from 'node:events';
import type { Commands } from '../../../src/engine/cluster/redis/connection.ts';
import { translating } from '../../../src/engine/cluster/redis/failure-cause.ts';
import { FILES } from '../../../src/engine/cluster/redis/scripts.ts';
import type { Subscriber } from '../../../src/engine/cluster/redis/subscriber.ts';
import type { Process, Scheduler } from '../scheduler.ts';
import { RedisData, type Reply } from './data.ts';

/**
 * A simulated Redis server, and connections with the interfaces of ioredis and of Tidemark's subscriber. Commands of one connection run in
 * order. A cut connection loses everything in flight in both directions, and reconnects after a while.
 */

export interface RedisFaults {
	/** Longest delay in one direction, in ms. */
	slowest: number;
	/** Chance that the connection is cut before or after a command runs. */
	cut: number;
}

const COMMANDS = [
	'get set del exists expire pexpire getdel hdel hget hgetall hlen hmget hscan hset lrange ping sadd smembers srem',
	'spublish unlink zcard scan',
]
	.join(' ')
	.split(' ');

export class SimulatedRedis {
	readonly faults: RedisFaults = { slowest: 1, cut: 0 };
	readonly process: Process;
	data: RedisData;
	runId = 'r1';
	readonly connections = new Set<Connection>();
	readonly subscribers = new Set<SimulatedSubscriber>();
	private lives = 1;

	constructor(
		readonly scheduler: Scheduler,
		readonly tally: (fault: string) => void,
	) {
		this.process = scheduler.process('redis');
		this.data = this.empty();
	}

	delay(): number {
		return this.scheduler.latency(0.05, this.faults.slowest);
	}

	/** Kills the server, which restarts without data. */
	restart(): void {
		this.lives += 1;
		this.runId = `r${this.lives}`;
		this.data = this.empty();
		for (const connection of [...this.connections]) connection.cut();
		for (const subscriber of [...this.subscribers]) subscriber.cut();
	}

	commandsOf(process: Process): Commands {
		const connection = new Connection(this, process);
		const client = connection.client();
		return translating(client as never) as Commands;
	}

	subscriberOf(process: Process): Subscriber {
		return new SimulatedSubscriber(this, process) as unknown as Subscriber;
	}

	private empty(): RedisData {
		return new RedisData(
			() => this.scheduler.now + this.process.clockOffsetMs,
			(channel, text) => {
				let receivers = 0;
				for (const subscriber of this.subscribers) if (subscriber.receive(channel, text)) receivers += 1;
				return receivers;
			},
		);
	}
}

const RECONNECT_MS = { least: 5, most: 400 };

/** Chance that commands are queued until the next connection; otherwise they are rejected. */
const QUEUED = 0.5;
/** Chance that a command is sent separately from others of the same event, so that other commands can run in between. */
const SPLIT = 0.1;

interface Command {
	readonly run: () => Reply;
	readonly settle: (reply: Reply, error: Error | null) => void;
	readonly fail: (error: Error) => void;
}

class Connection extends EventEmitter {
	status = 'ready';
	private upUntil = 0;
	private downUntil = 0;
	/** Rises with each cut: data sent in an earlier life of the connection are lost. */
	private life = 0;
	private readonly waiting = new Set<(error: Error) => void>();
	/** Commands that wait for the next connection, as in ioredis. Null: commands are rejected. */
	private queued: Command[] | null = null;
	/** The newest packet; commands sent in the same event usually share it. */
	private packet: { readonly step: number; readonly commands: Command[] } | null = null;

	constructor(
		private readonly redis: SimulatedRedis,
		private readonly owner: Process,
	) {
		super();
		redis.connections.add(this);
		owner.onDeath.add(() => redis.connections.delete(this));
	}

	/** Adds the methods of ioredis that Tidemark uses. */
	client(): object {
		const client: Record<string, unknown> = this as never;
		for (const name of [...COMMANDS, ...Object.keys(FILES)])
			client[name] = (...args: readonly unknown[]) => this.send(name, args.flat().map(String));
		client.info = () => this.send('info', []);
		client.isCluster = false;
		return client;
	}

	cut(): void {
		const { scheduler } = this.redis;
		this.life += 1;
		if (this.status !== 'ready') return;
		this.status = 'reconnecting';
		this.queued = scheduler.random.chance(QUEUED) ? [] : null;
		scheduler.at(this.owner, this.redis.delay(), 'redis connection closed', () => {
			this.emit('close');
			const lost = [...this.waiting];
			this.waiting.clear();
			for (const fail of lost) fail(new Error('Connection is closed.'));
		});
		scheduler.at(
			this.owner,
			scheduler.latency(RECONNECT_MS.least, RECONNECT_MS.most),
			'redis connected',
			() => {
				this.status = 'ready';
				const commands = this.queued ?? [];
				this.queued = null;
				for (const { fail } of commands) this.waiting.add(fail);
				if (commands.length > 0) this.transmit(commands);
				this.emit('ready');
			},
		);
	}

	private send(name: string, args: readonly string[]): Promise<unknown> {
		const { redis, owner } = this;
		const { scheduler } = redis;
		return new Promise((resolve, reject) => {
			if (this.status !== 'ready' && !this.queued) {
				scheduler.at(owner, redis.delay(), '', () => reject(new Error('Connection is closed.')));
				return;
			}
			const fail = (error: Error): void => reject(error);
			if (name in FILES) scheduler.reached(`script ${name}`);
			const command: Command = {
				run: () => (name === 'info' ? `run_id:${redis.runId}` : redis.data.run(name, args)),
				settle: (reply, error) => {
					if (!this.waiting.delete(fail)) return;
					if (error) reject(error);
					else resolve(name === 'hgetall' ? pairs(reply as string[]) : reply);
				},
				fail,
			};
			if (this.queued) {
				this.queued.push(command);
				return;
			}
			this.waiting.add(fail);
			if (this.packet?.step === scheduler.steps && !scheduler.random.chance(SPLIT)) {
				this.packet.commands.push(command);
				return;
			}
			const packet = { step: scheduler.steps, commands: [command] };
			this.packet = packet;
			this.transmit(packet.commands);
		});
	}

	/** Sends commands that arrive together, and whose replies arrive together. A cut happens before, between or after them. */
	private transmit(commands: readonly Command[]): void {
		const { redis, owner } = this;
		const { scheduler } = redis;
		const { life } = this;
		this.upUntil = Math.max(this.upUntil, scheduler.now + redis.delay());
		scheduler.at(redis.process, this.upUntil - scheduler.now, '', () => {
			if (life !== this.life) return;
			const isCut = redis.faults.cut > 0 && scheduler.random.chance(redis.faults.cut);
			const executed = isCut ? commands.slice(0, scheduler.random.below(commands.length + 1)) : commands;
			const replies = executed.map(({ run }) => attempt(run));
			for (const { error } of replies)
				if (error) scheduler.reached(`refused by Redis: ${error.message.slice(0, 24)}`);
			if (isCut) {
				redis.tally('cut redis connection');
				return this.cut();
			}
			this.downUntil = Math.max(this.downUntil, scheduler.now + redis.delay());
			scheduler.at(owner, this.downUntil - scheduler.now, '', () => {
				for (const [index, { reply, error }] of replies.entries()) commands[index]?.settle(reply, error);
			});
		});
	}
}

function attempt(run: () => Reply): { readonly reply: Reply; readonly error: Error | null } {
	try {
		return { reply: run(), error: null };
	} catch (error) {
		return { reply: null, error: error as Error };
	}
}

function pairs(flat: readonly string[]): Record<string, string> {
	const found: Record<string, string> = {};
	for (let index = 0; index + 1 < flat.length; index += 2)
		found[flat[index] as string] = flat[index + 1] as string;
	return found;
}

const NODE = '';

class SimulatedSubscriber extends EventEmitter {
	private readonly channels = new Set<string>();
	private isConnected = true;
	private life = 0;
	private downUntil = 0;
	private upUntil = 0;
	/** The connection delivers nothing, without an error, until the bus detects this by its pulse or the connection is cut. */
	private isDeaf = false;

	constructor(
		private readonly redis: SimulatedRedis,
		private readonly owner: Process,
	) {
		super();
		redis.subscribers.add(this);
		owner.onDeath.add(() => redis.subscribers.delete(this));
	}

	subscribe(channel: string): Promise<void> {
		return this.ask(() => this.channels.add(channel));
	}

	unsubscribe(channel: string): Promise<void> {
		return this.ask(() => this.channels.delete(channel));
	}

	isConnecting(): boolean {
		return !this.isConnected;
	}

	drop(): void {
		this.cut();
	}

	close(): void {
		this.redis.subscribers.delete(this);
	}

	cut(): void {
		const { scheduler } = this.redis;
		this.life += 1;
		this.isDeaf = false;
		this.channels.clear();
		if (!this.isConnected) return;
		this.isConnected = false;
		scheduler.at(this.owner, this.redis.delay(), 'subscriber lost', () => this.emit('lost', NODE));
		scheduler.at(
			this.owner,
			scheduler.latency(RECONNECT_MS.least, RECONNECT_MS.most),
			'subscriber connected',
			() => {
				this.isConnected = true;
				this.emit('connected', NODE);
			},
		);
	}

	/** A connection that lost data never recovers: it is cut after this time. */
	deafen(ms: number): void {
		const { life } = this;
		this.isDeaf = true;
		this.redis.scheduler.at(this.redis.process, ms, '', () => {
			if (life === this.life) this.cut();
		});
	}

	receive(channel: string, text: string): boolean {
		if (!this.channels.has(channel)) return false;
		if (this.isDeaf) return true;
		this.deliver(() => this.emit('message', channel, text));
		return true;
	}

	private ask(change: () => unknown): Promise<void> {
		const { scheduler } = this.redis;
		return new Promise((resolve, reject) => {
			const { life } = this;
			const fail = (): void => reject(new Error('Connection is closed.'));
			if (!this.isConnected) {
				scheduler.at(this.owner, this.redis.delay(), '', fail);
				return;
			}
			this.upUntil = Math.max(this.upUntil, scheduler.now + this.redis.delay());
			scheduler.at(this.redis.process, this.upUntil - scheduler.now, '', () => {
				if (life !== this.life) {
					scheduler.at(this.owner, 0, '', fail);
					return;
				}
				change();
				this.deliver(resolve, fail);
			});
		});
	}

	private deliver(arrive: () => unknown, lost?: () => void): void {
		const { scheduler } = this.redis;
		const { life } = this;
		this.downUntil = Math.max(this.downUntil, scheduler.now + this.redis.delay());
		scheduler.at(this.owner, this.downUntil - scheduler.now, '', () => {
			if (life === this.life) arrive();
			else lost?.();
		});
	}
}

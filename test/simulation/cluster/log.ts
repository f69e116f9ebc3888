import {
	decodeCommand,
	decodeFact,
	encodeCommand,
	encodeFact,
} from '../../../src/engine/cluster/kafka/codec.ts';
import type { KafkaLogs } from '../../../src/engine/cluster/kafka/open.ts';
import type { CommandRecord, LogSpan, PartitionOwner } from '../../../src/engine/ports/log.ts';
import { Rejection } from '../../../src/model/errors.ts';
import type { Process, Scheduler } from '../scheduler.ts';
import { Group } from './group.ts';
import { type Handle, Member } from './member.ts';

/**
 * A simulated log behind the ports of the real one: partitions that keep all records, appends of one process in order, and a consumer
 * group for each topic. Gateways, workers and the encoding of records are real.
 */

export interface LogFaults {
	/** Chance that an append is rejected, and that it succeeds but is not confirmed. */
	refused: number;
	unconfirmed: number;
	slowest: number;
}

const PARTITIONS = 2;
const LOG_ID = 'log-1';
const UNCONFIRMED_MS = 3_000;
const LONGEST_FETCH_MS = 1_000;

export class Partition {
	readonly records: Buffer[] = [];
	/** Fetches that wait for the next record. */
	readonly waiting = new Set<() => void>();
	constructor(readonly name: string) {}

	add(record: Buffer): void {
		this.records.push(record);
		const waiting = [...this.waiting];
		this.waiting.clear();
		for (const answer of waiting) answer();
	}
}

export class SimulatedLog {
	readonly faults: LogFaults = { refused: 0, unconfirmed: 0, slowest: 2 };
	readonly process: Process;
	readonly conversations = topic('conversations');
	readonly users = topic('users');
	readonly groups: Readonly<Record<'conversations' | 'users', Group>>;
	/** When the newest append of each process arrives: later ones must not arrive before it. */
	private readonly arriving = new WeakMap<Process, number>();

	constructor(
		readonly scheduler: Scheduler,
		private readonly tally: (fault: string) => void,
	) {
		this.process = scheduler.process('kafka');
		this.groups = {
			conversations: new Group(
				this,
				this.conversations.map(({ name }) => name),
			),
			users: new Group(
				this,
				this.users.map(({ name }) => name),
			),
		};
	}

	delay(): number {
		return this.scheduler.latency(0.1, this.faults.slowest);
	}

	partition(name: string): Partition {
		return [...this.conversations, ...this.users].find((one) => one.name === name) as Partition;
	}

	records(): ReadonlyMap<string, readonly Buffer[]> {
		return new Map([...this.conversations, ...this.users].map(({ name, records }) => [name, [...records]]));
	}

	restore(saved: ReadonlyMap<string, readonly Buffer[]>): void {
		for (const [name, records] of saved) this.partition(name).records.push(...records);
	}

	logsOf(process: Process, report: (error: unknown, about: string) => void): KafkaLogs {
		return {
			commands: {
				append: (record: CommandRecord) =>
					this.append(process, this.conversations, record.command.conversation, encodeCommand(record)),
				consume: (handler, owner) => {
					const member = this.join(
						process,
						'conversations',
						owner as PartitionOwner,
						report,
						(values, span) =>
							handler(
								values.map((value, index) => ({
									...decodeCommand(value),
									partition: span.partition,
									offset: span.from + index,
								})),
								span,
							),
					);
					return { restart: (partition) => member.restart(partition) };
				},
			},
			marks: {
				append: async (facts) =>
					void (await Promise.all(
						facts.map((fact) => this.append(process, this.users, fact.user, encodeFact(fact))),
					)),
				consume: (persister) => {
					const owner: PartitionOwner = {
						progress: (partition) => persister.progress(partition),
						onRevoked: (partitions) => persister.onRevoked?.(partitions),
					};
					const member = this.join(process, 'users', owner, report, (values, span) =>
						persister.persist(values.map(decodeFact), span),
					);
					return { restart: (partition) => member.restart(partition) };
				},
			},
			partitions: { conversations: PARTITIONS, users: PARTITIONS },
			endOfMarks: () =>
				this.ask(process, () => new Map(this.users.map(({ name, records }) => [name, records.length]))),
			unowned: async () => [],
			probe: async () => undefined,
			close: async () => undefined,
		};
	}

	/** The worker that decides commands of this conversation, as the brokers see it. */
	ownerOf(conversation: string): Process | undefined {
		return this.groups.conversations.ownerOf(partitionOf(this.conversations, conversation).name);
	}

	/** The changes of a user's activity in the log. */
	activityOf(user: string): { readonly at: number; readonly active: boolean }[] {
		return partitionOf(this.users, user)
			.records.map(decodeFact)
			.flatMap((fact) => (fact.type === 'activity' && fact.user === user ? [fact] : []));
	}

	/** Sends a request to the brokers; resolves to their answer. */
	ask<T>(process: Process, answer: () => T): Promise<T> {
		const { scheduler } = this;
		return new Promise((resolve) => {
			scheduler.at(this.process, this.delay(), '', () => {
				const value = answer();
				scheduler.at(process, this.delay(), '', () => resolve(value));
			});
		});
	}

	/** The records from an offset on. If there is none, waits a while for one, as Kafka's fetch does. */
	fetch(process: Process, name: string, from: number): Promise<readonly Buffer[]> {
		const { scheduler } = this;
		const partition = this.partition(name);
		return new Promise((resolve) => {
			const answer = (): void => {
				const some = partition.records.slice(from);
				scheduler.at(process, this.delay(), '', () => resolve(some));
			};
			scheduler.at(this.process, this.delay(), '', () => {
				if (partition.records.length > from) return answer();
				partition.waiting.add(answer);
				scheduler.at(this.process, LONGEST_FETCH_MS, '', () => {
					if (partition.waiting.delete(answer)) answer();
				});
			});
		});
	}

	private join(
		process: Process,
		name: 'conversations' | 'users',
		owner: PartitionOwner,
		report: (error: unknown, about: string) => void,
		handle: Handle,
	): Member {
		const withLog: Handle = (values, span) => handle(values, { ...span, logId: LOG_ID } satisfies LogSpan);
		const member = new Member(this, this.groups[name], process, owner, withLog, report);
		member.start();
		return member;
	}

	private append(
		process: Process,
		partitions: readonly Partition[],
		key: string,
		value: string,
	): Promise<void> {
		const { scheduler, faults } = this;
		const partition = partitionOf(partitions, key);
		return new Promise((resolve, reject) => {
			if (scheduler.random.chance(faults.refused)) {
				this.tally('refused append');
				scheduler.at(process, this.delay(), '', () =>
					reject(new Rejection('service_unavailable', 'the log is unreachable')),
				);
				return;
			}
			const due = Math.max(this.arriving.get(process) ?? 0, scheduler.now + this.delay());
			this.arriving.set(process, due);
			const isConfirmed = !scheduler.random.chance(faults.unconfirmed);
			scheduler.at(this.process, due - scheduler.now, '', () => {
				// The process may have died before it sent the append.
				if (!process.alive && scheduler.random.chance(0.7)) return;
				partition.add(Buffer.from(value));
				scheduler.note(`${partition.name} ${partition.records.length - 1} ${value.slice(0, 120)}`);
				if (isConfirmed) {
					scheduler.at(process, this.delay(), '', () => resolve());
					return;
				}
				this.tally('unconfirmed append');
				scheduler.at(process, UNCONFIRMED_MS, '', () =>
					reject(new Rejection('outcome_unknown', 'not confirmed')),
				);
			});
		});
	}
}

const topic = (name: string): readonly Partition[] =>
	Array.from({ length: PARTITIONS }, (_, number) => new Partition(`${name}/${number}`));

const partitionOf = (partitions: readonly Partition[], key: string): Partition =>
	partitions[hash(key) % partitions.length] as Partition;

function hash(text: string): number {
	let sum = 0;
	for (const letter of text) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
	return sum;
}

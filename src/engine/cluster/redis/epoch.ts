import type { Redis } from 'ioredis';
import { Refusal } from '../../../model/errors.ts';
import type { Commands } from './connection.ts';
import { isLoadedState, isReadState } from './keys.ts';
import { nodesOf } from './nodes.ts';
import { Processes } from './processes.ts';
import { spreadTags } from './slots.ts';

/**
 * Tells when Redis, or a node of it, was emptied, or holds what it had some time ago. Then it may lack effects that the store
 * does not have yet, and nothing may be loaded until the workers have brought the store up to date.
 *
 * An epoch is one value, the time of its beginning, under several keys that are spread over the slots, so that each node has
 * some of them; and a record of the processes that Redis consisted of then. Markers all there and alike, and no other
 * process in place of those: Redis is whole. Otherwise it is lost until a worker clears it and, its topics drained,
 * begins another.
 *
 * Who loads from the store names a marker on the same node, and the script that writes compares it (fence.ts): once that
 * marker is gone, nothing that was read before can arrive any more, however long it was on its way.
 */

const MARKERS = 32;
/** As OVERLAP_MICROS of the engine. */
const CLOCKS_DIFFER_MICROS = 5_000_000;
/** Older positions are not resumed from in any case. */
const VOID_SECONDS = 2 * 86_400;

/** An epoch, while Redis is whole. */
export interface Whole {
	readonly epoch: string;
	/** Micros: no position before this can be resumed from. */
	readonly since: number;
	readonly processes: ReadonlySet<string>;
}

export class Epoch {
	private readonly tags: readonly string[] = spreadTags(MARKERS);
	private readonly recordKey: string;
	private readonly voidKey: string;
	private readonly processes: Processes;
	private readonly nodeOf: (tag: string) => string;

	constructor(
		private readonly commands: Commands,
		private readonly prefix: string,
	) {
		this.recordKey = `${prefix}{epoch}:processes`;
		this.voidKey = `${prefix}{epoch}:void`;
		this.processes = new Processes(commands);
		this.nodeOf = nodesOf(commands);
	}

	/** Micros since when Redis lost nothing. Refuses while it is not whole. */
	async wholeSince(): Promise<number> {
		const whole = await this.check();
		if (!whole) throw beingRestored();
		return whole.since;
	}

	/**
	 * Something from before this moment was never published, and clients may have passed it by: their positions are void. Clocks
	 * of the processes that gave them may be ahead.
	 */
	async voidBefore(micros: number): Promise<void> {
		await this.commands.set(this.voidKey, String(micros + CLOCKS_DIFFER_MICROS), 'EX', VOID_SECONDS);
	}

	/** Null where Redis is not whole. */
	async check(): Promise<Whole | null> {
		const { commands, recordKey, processes } = this;
		const [record, voided, ...values] = await Promise.all(
			[recordKey, this.voidKey, ...this.markers()].map((key) => commands.get(key)),
		);
		const [value, ...others] = new Set(values);
		if (value == null || others.length > 0) return null;
		const [epoch, ...ids] = (record ?? '').split(' ');
		const since = Math.max(Number(value), Number(voided ?? 0));
		const whole = { epoch: value, since, processes: new Set(ids) };
		const isIt = epoch === value && (await processes.connected()).every((id) => whole.processes.has(id));
		return isIt ? whole : null;
	}

	/** Resolves when every node of Redis has answered. */
	reached(): Promise<void> {
		return this.processes.answer();
	}

	/** Without asking: nothing but the processes of this epoch has answered lately. */
	isServedBy({ processes }: Whole): boolean {
		return this.processes.areAmong(processes);
	}

	/** A marker on the node that has the keys of this tag; '' where that node has none, being small. */
	markerBeside(tag: string): string {
		const node = this.nodeOf(tag);
		const beside = this.tags.find((one) => this.nodeOf(one) === node);
		return beside === undefined ? '' : this.markerOf(beside);
	}

	/**
	 * Ends the epoch and removes what can be loaded again. First the markers, so that nothing comes after; then what says
	 * that something is loaded, because a conversation without its entries would seem to be read.
	 */
	async clear(): Promise<void> {
		await Promise.all(this.markers().map((marker) => this.commands.unlink(marker)));
		for (const isToGo of [isLoadedState, isReadState])
			await Promise.all(this.processes.nodes().map((node) => this.remove(node, isToGo)));
	}

	/** Begins an epoch. Only for who cleared Redis and knows that the store has everything since. */
	async begin(nowMicros: () => number): Promise<void> {
		const value = String(nowMicros());
		await this.commands.set(this.recordKey, [value, ...(await this.processes.all())].join(' '));
		await Promise.all(this.markers().map((marker) => this.commands.set(marker, value)));
	}

	private markers(): string[] {
		return this.tags.map((tag) => this.markerOf(tag));
	}

	private markerOf(tag: string): string {
		return `${this.prefix}{${tag}}:epoch`;
	}

	private async remove(node: Redis, isToGo: (key: string) => boolean): Promise<void> {
		let cursor = '0';
		do {
			const [next, keys] = await node.scan(cursor, 'MATCH', `${this.prefix}*`, 'COUNT', 1_000);
			await Promise.all(keys.filter(isToGo).map((key) => this.commands.unlink(key)));
			cursor = next;
		} while (cursor !== '0');
	}
}

export const beingRestored = (): Refusal =>
	new Refusal('service_unavailable', 'read state is being restored');

import type { Redis } from 'ioredis';
import { Refusal } from '../../../model/errors.ts';
import type { Commands } from './connection.ts';
import { spreadTags } from './slots.ts';

/**
 * Tells when Redis, or a node of it, was emptied. Then it may lack effects that the store does not have yet,
 * and nothing may be loaded until the workers have brought the store up to date.
 *
 * The epoch is one value under several keys, spread over the slots so that each node has some of them. All there
 * and alike: Redis is whole. Any of them gone: it is lost, and loads are refused until a worker, its topics drained,
 * calls `begin`.
 *
 * A load checks before it reads the store and again before it writes. One that was under way when Redis was emptied
 * may still arrive, so whoever begins waits that long (`SETTLE_MS`) before it drains the log, and removes everything
 * before it sets the new value, which is the time of its beginning.
 */

const MARKERS = 16;
/** Longer than any command is under way. */
export const SETTLE_MS = 3_500;

/** How loads from the store are guarded. */
export interface Fence {
	/** Micros since when Redis lost nothing. Refuses while it is not whole. */
	wholeSince(): Promise<number>;
	/** Reads from the store, then writes what was read, if Redis was whole all the while. */
	load<T>(read: () => Promise<T>, write: (rows: T) => Promise<unknown>): Promise<void>;
}

/** For whoever shares Redis with nobody and never loses it. */
export const NO_FENCE: Fence = {
	wholeSince: async () => 0,
	load: async (read, write) => void (await write(await read())),
};

export class Epoch implements Fence {
	private readonly markers: readonly string[];
	private readonly nodesKey: string;

	constructor(
		private readonly commands: Commands,
		private readonly prefix: string,
	) {
		this.nodesKey = `${prefix}{epoch}:nodes`;
		this.markers = spreadTags(MARKERS).map((tag) => `${prefix}{${tag}}:epoch`);
	}

	async wholeSince(): Promise<number> {
		const value = await this.check();
		if (value === null) throw unavailable();
		return Number(value);
	}

	/** The value; null where Redis is not whole. */
	async check(): Promise<string | null> {
		const values = new Set(await Promise.all(this.markers.map((marker) => this.commands.get(marker))));
		const [value = null] = values;
		return values.size === 1 ? value : null;
	}

	async load<T>(read: () => Promise<T>, write: (rows: T) => Promise<unknown>): Promise<void> {
		const before = await this.check();
		if (before === null) throw unavailable();
		const rows = await read();
		if ((await this.check()) !== before) throw unavailable();
		await write(rows);
	}

	/**
	 * Begins a new epoch on an empty Redis. Only for who knows that the store has everything: the log drained, by
	 * every worker.
	 */
	async begin(nowMicros: () => number): Promise<void> {
		await this.removeAll();
		const value = String(nowMicros());
		const nodes = await this.nodesNow();
		if (nodes !== null) await this.commands.set(this.nodesKey, nodes);
		await Promise.all(this.markers.map((marker) => this.commands.set(marker, value)));
	}

	/**
	 * Redis may come back with what it had some minutes ago, from a snapshot or as a replica that took over: then all
	 * markers are there, and what happened since is not. So it is also kept which processes it consists of, and with
	 * others in their place the epoch is over.
	 */
	async endWithOtherNodes(): Promise<void> {
		const [then, now] = await Promise.all([this.commands.get(this.nodesKey), this.nodesNow()]);
		if (then !== null && now !== null && then !== now) await this.commands.unlink(this.markers[0] ?? '');
	}

	/** Null while not all of them answer. */
	private async nodesNow(): Promise<string | null> {
		try {
			const told = await Promise.all(this.nodes().map((node) => node.info('server')));
			return told
				.map((info) => /^run_id:(\w+)/m.exec(info)?.[1] ?? '')
				.sort()
				.join();
		} catch {
			return null;
		}
	}

	private nodes(): readonly Redis[] {
		return 'nodes' in this.commands ? this.commands.nodes('master') : [this.commands];
	}

	private async removeAll(): Promise<void> {
		const { commands } = this;
		for (const node of this.nodes()) {
			let cursor = '0';
			do {
				const [next, keys] = await node.scan(cursor, 'MATCH', `${this.prefix}*`, 'COUNT', 1_000);
				await Promise.all(keys.map((key) => commands.unlink(key)));
				cursor = next;
			} while (cursor !== '0');
		}
	}
}

const unavailable = (): Refusal => new Refusal('service_unavailable', 'read state is being restored');

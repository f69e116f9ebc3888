import type { Commands } from './connection.ts';
import type { Keys } from './keys.ts';

/**
 * Which gateways there are, and the connections of each. A gateway whose sign of life is gone can end nothing
 * itself any more: another one does. What is kept here outlives the gateway, until its last connection is ended.
 */

/** Of one that stopped working in the middle, another takes over after this. */
const CLAIM_MS = 30_000;
const PAGE = 100;

export type Ending = (user: string, connection: string) => Promise<void>;

export class Gateways {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		/** Of this one; no other, and none before it, has the same. */
		private readonly id: string,
		private readonly aliveMs: number,
	) {}

	/** Gives a sign of life. Answers how many connections of this gateway are known. */
	async beat(): Promise<number> {
		const { commands, keys, id } = this;
		// Alive before it is known: else it would be taken for dead.
		await commands.set(keys.gatewayAlive(id), '1', 'PX', this.aliveMs);
		const [known] = await Promise.all([
			commands.hlen(keys.gatewayConnections(id)),
			commands.sadd(keys.gateways(), id),
		]);
		return known;
	}

	async add(user: string, connection: string): Promise<void> {
		await this.commands.hset(this.keys.gatewayConnections(this.id), connection, user);
	}

	async remove(connection: string): Promise<void> {
		await this.commands.hdel(this.keys.gatewayConnections(this.id), connection);
	}

	/** Connection to user, as it is known of this gateway. */
	async known(): Promise<ReadonlyMap<string, string>> {
		return new Map(Object.entries(await this.commands.hgetall(this.keys.gatewayConnections(this.id))));
	}

	/** Ends the connections of gateways that died: each by one of those that look. */
	async sweep(end: Ending): Promise<void> {
		const { commands, keys } = this;
		for (const id of await commands.smembers(keys.gateways())) {
			if (id === this.id || (await this.isAlive(id))) continue;
			const claim = keys.gatewayClaim(id);
			if ((await commands.set(claim, this.id, 'PX', CLAIM_MS, 'NX')) === null) continue;
			await this.endAll(id, end);
			await commands.del(claim);
		}
	}

	private async endAll(id: string, end: Ending): Promise<void> {
		const { commands, keys } = this;
		const connections = keys.gatewayConnections(id);
		for (let cursor = '0'; ; ) {
			// It was only slow. What was ended already it finds missing with its next beat.
			if (await this.isAlive(id)) return;
			const [next, page] = await commands.hscan(connections, cursor, 'COUNT', PAGE);
			await Promise.all(
				pairsOf(page).map(async ([connection, user]) => {
					await end(user, connection);
					await commands.hdel(connections, connection);
				}),
			);
			await commands.pexpire(keys.gatewayClaim(id), CLAIM_MS);
			if (next === '0') break;
			cursor = next;
		}
		await commands.srem(keys.gateways(), id);
	}

	private async isAlive(id: string): Promise<boolean> {
		return (await this.commands.exists(this.keys.gatewayAlive(id))) === 1;
	}
}

function pairsOf(flat: readonly string[]): [string, string][] {
	const pairs: [string, string][] = [];
	for (let index = 0; index + 1 < flat.length; index += 2)
		pairs.push([flat[index] as string, flat[index + 1] as string]);
	return pairs;
}

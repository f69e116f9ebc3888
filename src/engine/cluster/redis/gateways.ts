import type { Commands } from './connection.ts';
import type { Keys } from './keys.ts';

/**
 * Registers gateways and their connections. A gateway that died cannot remove its own connections: another one does. The
 * register of a gateway therefore stays until its last connection is removed.
 */

/** If a gateway stops halfway through removing, another one continues after this time. */
const CLAIM_MS = 30_000;
const PAGE = 100;

export type Ending = (user: string, connection: string) => Promise<void>;

export class Gateways {
	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		/** Id of this gateway, unique over time. */
		private readonly id: string,
		private readonly aliveMs: number,
	) {}

	/** Sends a heartbeat. Resolves to the number of registered connections of this gateway. */
	async beat(): Promise<number> {
		const { commands, keys, id } = this;
		// Alive before it is registered: otherwise it would seem dead.
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

	/** Registered connections of this gateway: connection to user. */
	async known(): Promise<ReadonlyMap<string, string>> {
		return new Map(Object.entries(await this.commands.hgetall(this.keys.gatewayConnections(this.id))));
	}

	/** Removes the connections of dead gateways; each gateway is handled by one caller. */
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
			// It was only slow: its next heartbeat registers removed connections again.
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

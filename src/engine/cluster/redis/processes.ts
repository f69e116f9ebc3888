import type { Redis } from 'ioredis';
import { Refusal } from '../../../model/errors.ts';
import type { Commands } from './connection.ts';

/**
 * Which process each node of Redis is. A process has an id (`run_id`) of its own, which it does not keep in a snapshot nor share with its
 * replicas: a node that restarts with an old snapshot, or a replica that took over, has another. The id is asked once for each
 * connection, because behind a connection there is always the same process.
 */
export class Processes {
	private readonly ids = new WeakMap<Redis, string>();
	private readonly watched = new WeakSet<Redis>();

	constructor(private readonly commands: Commands) {}

	/** The node of this address. Fails where the client has no connection to it. */
	nodeAt(address: string): Redis {
		const node = this.find(address);
		if (!node) throw new Refusal('service_unavailable', `Redis has no node ${address}`);
		return node;
	}

	/** Resolves when each of them has answered. */
	async answer(): Promise<void> {
		const { commands } = this;
		const nodes = 'nodes' in commands ? commands.nodes('master') : [commands];
		if (nodes.length === 0) throw new Error('no Redis node is known');
		await Promise.all(nodes.map((node) => node.ping()));
	}

	async idAt(address: string): Promise<string> {
		const node = this.nodeAt(address);
		const known = this.ids.get(node);
		if (known) return known;
		if (!this.watched.has(node)) {
			this.watched.add(node);
			node.on('close', () => this.ids.delete(node));
		}
		const id = /^run_id:(\w+)/m.exec(await node.info('server'))?.[1];
		if (!id) throw new Error('a node of Redis does not report its run_id');
		this.ids.set(node, id);
		return id;
	}

	/** Without asking: whatever answered from this address lately is this process. */
	isAt(address: string, id: string): boolean {
		const node = this.find(address);
		// One that is not connected has answered nothing.
		return node !== undefined && (node.status !== 'ready' || this.ids.get(node) === id);
	}

	private find(address: string): Redis | undefined {
		const { commands } = this;
		if (!('nodes' in commands)) return commands;
		return commands.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === address);
	}
}

import type { Redis } from 'ioredis';
import { Rejection } from '../../../model/errors.ts';
import type { Commands } from './connection.ts';

/**
 * The process behind each Redis node. Every Redis process has its own id (`run_id`), which is neither in a snapshot nor shared with
 * replicas: a node that restarts with an old snapshot, or a replica that took over, has a new one. It is read once per
 * connection, because a connection always leads to the same process.
 */
export class RedisProcesses {
	private readonly ids = new WeakMap<Redis, string>();
	private readonly watched = new WeakSet<Redis>();

	constructor(private readonly commands: Commands) {}

	/** The node at this address. Throws if the client has no connection to it. */
	nodeAt(address: string): Redis {
		const node = this.find(address);
		if (!node) throw new Rejection('service_unavailable', `Redis has no node ${address}`);
		return node;
	}

	/** Resolves when all nodes have answered. */
	async pingAll(): Promise<void> {
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

	/** Whether, as far as this process knows, the address is still served by the Redis process with this id. Sends no request. */
	isAt(address: string, id: string): boolean {
		const node = this.find(address);
		// While a node is not connected, no answer of another process can have arrived, so the known id still holds.
		return node !== undefined && (node.status !== 'ready' || this.ids.get(node) === id);
	}

	private find(address: string): Redis | undefined {
		const { commands } = this;
		if (!('nodes' in commands)) return commands;
		return commands.nodes('master').find(({ options: { host, port } }) => `${host}:${port}` === address);
	}
}

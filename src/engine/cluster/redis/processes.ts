import type { Redis } from 'ioredis';
import type { Commands } from './connection.ts';

/**
 * Which processes Redis consists of. Each has an id of its own, which it does not keep in a snapshot nor share with its
 * replicas: one that comes back with what it had some minutes ago, or a replica that took over, has another. It is asked once
 * for each connection, because behind a connection there is always the same process.
 */
export class Processes {
	private readonly ids = new WeakMap<Redis, string>();
	private readonly watched = new WeakSet<Redis>();

	constructor(private readonly commands: Commands) {}

	nodes(): readonly Redis[] {
		return 'nodes' in this.commands ? this.commands.nodes('master') : [this.commands];
	}

	/** Of all of them. Fails where one does not answer. */
	all(): Promise<string[]> {
		return Promise.all(this.nodes().map((node) => this.idOf(node)));
	}

	/** Resolves when each of them has answered. */
	async answer(): Promise<void> {
		const nodes = this.nodes();
		if (nodes.length === 0) throw new Error('no node of Redis is known');
		await Promise.all(nodes.map((node) => node.ping()));
	}

	/** Of those that are connected: the others have told nothing. */
	connected(): Promise<string[]> {
		return Promise.all(this.connectedNodes().map((node) => this.idOf(node)));
	}

	/** Without asking: whatever answers now is one of these. */
	areAmong(ids: ReadonlySet<string>): boolean {
		return this.connectedNodes().every((node) => ids.has(this.ids.get(node) ?? ''));
	}

	private connectedNodes(): readonly Redis[] {
		return this.nodes().filter(({ status }) => status === 'ready');
	}

	private async idOf(node: Redis): Promise<string> {
		const known = this.ids.get(node);
		if (known) return known;
		if (!this.watched.has(node)) {
			this.watched.add(node);
			node.on('close', () => this.ids.delete(node));
		}
		const id = /^run_id:(\w+)/m.exec(await node.info('server'))?.[1];
		if (!id) throw new Error('a node of Redis does not tell its run_id');
		this.ids.set(node, id);
		return id;
	}
}

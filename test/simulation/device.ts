import { createClient, type TidemarkClient } from '../../client/src/index.ts';
import { freshCounts, seen, served, shownCounts, watchEverything } from '../support/client/shown.ts';
import { type Difference, firstDifference } from '../support/oracle/compare.ts';
import type { Person } from '../support/people.ts';
import { callerOf } from './people.ts';
import type { Process } from './scheduler.ts';
import type { Shape, World } from './world.ts';

/** A device with the SDK, in its own process, which watches all conversations and threads of its user. */
export class Device {
	readonly process: Process;
	private client: TidemarkClient;
	private stopWatching: () => void;
	/** Calls of the same user without the SDK, as a new device would make them. */
	private readonly fresh: Person;

	constructor(
		world: World,
		shape: Shape,
		readonly person: Person,
		name: string,
	) {
		const { scheduler, network } = world;
		this.process = scheduler.process(name);
		const server = scheduler.random.pick(shape.servers);
		const WebSocket = network.webSocketOf(this.process) as never;
		this.client = scheduler.within(this.process, () =>
			createClient({
				url: `http://${server}`,
				token: person.token,
				fetch: network.fetchOf(this.process),
				WebSocket,
			}),
		);
		this.fresh = { ...person, call: callerOf(world, shape, this.process, person.token) };
		this.stopWatching = () => undefined;
		scheduler.at(this.process, 0, 'connects', () => {
			this.stopWatching = watchEverything(this.client);
			void this.client.connect();
		});
	}

	private run<T>(label: string, judge: Process, work: (client: TidemarkClient) => Promise<T>): Promise<T> {
		const { scheduler } = this.process;
		return new Promise((resolve, reject) => {
			scheduler.at(this.process, 0.1, label, () => {
				work(this.client).then(
					(value) => scheduler.at(judge, 0.1, '', () => resolve(value)),
					(error) => scheduler.at(judge, 0.1, '', () => reject(error)),
				);
			});
		});
	}

	post(judge: Process, conversation: string, text: string): Promise<string> {
		return this.run(
			'posts',
			judge,
			async (client) => (await client.conversation(conversation).post(text)).ts,
		);
	}

	/** Puts a conversation in focus. */
	focus(judge: Process, conversation: string): Promise<void> {
		return this.run('looks at a conversation', judge, async (client) =>
			client.conversation(conversation).focus(),
		);
	}

	blur(judge: Process, conversation: string): Promise<void> {
		return this.run('looks away', judge, async (client) => client.conversation(conversation).blur());
	}

	/** The first difference between its screen and what the server answers to a new device. */
	difference(judge: Process, among: ReadonlySet<string>): Promise<Difference | undefined> {
		const { fresh } = this;
		return this.run('looks', judge, async (client) => {
			await client.settled();
			const counts = firstDifference(
				await freshCounts(fresh),
				shownCounts(client),
				`counts of ${this.process.name}`,
			);
			return counts ?? this.messagesDifference(client, fresh, among);
		});
	}

	/** The same for the messages of these conversations, and for threads. */
	private async messagesDifference(
		client: TidemarkClient,
		fresh: Person,
		among: ReadonlySet<string>,
	): Promise<Difference | undefined> {
		for (const id of client.getSnapshot().conversations.keys()) {
			if (!among.has(id)) continue;
			const store = client.conversation(id);
			if (!store.getSnapshot().isLoaded) await store.load();
			const { messages } = store.getSnapshot();
			const answer = await fresh.call('conversations.history', { channel: id, limit: messages.length || 1 });
			const found = firstDifference(
				answer.messages.map(served).reverse(),
				messages.map(seen),
				`screen of ${this.process.name}, ${id}`,
			);
			if (found) return found;
		}
		const view = await fresh.call('subscriptions.thread.getView', { limit: 10 });
		return firstDifference(
			// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
			view.threads.map((thread: any) => [thread.root_msg.ts, thread.unread_count, thread.mention_count]),
			client.threads
				.getSnapshot()
				.threads.map((thread) => [thread.threadTs, thread.unreadCount, thread.mentionCount]),
			`threads of ${this.process.name}`,
		);
	}

	end(): void {
		this.process.scheduler.within(this.process, () => {
			this.stopWatching();
			this.client.disconnect();
		});
	}
}

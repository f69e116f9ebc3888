import { Cluster, type Command } from 'ioredis';
import { isPublication } from './scripts.ts';

/**
 * A client of a Redis Cluster that finds slots and nodes again, also where commands go out together, and keeps to one
 * time limit for each command.
 *
 * ioredis follows a redirected command (MOVED, ASK) that was sent alone. Of a pipeline it follows all or
 * none, and all only if all have the same redirect, which commands about several slots never have. Then each fails, the
 * client does not look where slots are by now, and so it stays: for a slot that was given to another node, and for every slot
 * of a node whose connection was lost, until the process ends. Here each of them is sent again by itself. It was not carried out.
 *
 * Two things it does that are not wanted: it sends again what a lost connection may have carried out, and it lets commands
 * wait without limit while no node is there, to carry them out when nobody expects it any more.
 */
export class FollowingCluster extends Cluster {
	/** Until when a command may be sent. */
	private readonly deadlines = new WeakMap<Command, number>();

	override sendCommand(command: Command, stream?: Parameters<Cluster['sendCommand']>[1], node?: unknown) {
		const leftMs = this.leftFor(command);
		if (leftMs <= 0) {
			command.reject(new Error('Command timed out'));
			return command.promise;
		}
		command.setTimeout(leftMs);
		// Those of a pipeline are sent with the node that all of them go to.
		if (node && !command.inTransaction) this.follow(command, 0);
		return super.sendCommand(command, stream, node);
	}

	private leftFor(command: Command): number {
		const now = performance.now();
		const known = this.deadlines.get(command);
		if (known !== undefined) return known - now;
		const limitMs = this.options.redisOptions?.commandTimeout ?? Number.POSITIVE_INFINITY;
		this.deadlines.set(command, now + limitMs);
		return limitMs;
	}

	private follow(command: Command, pauseMs: number): void {
		const { reject } = command;
		const sendAgain = (): void => {
			if (this.leftFor(command) <= 0) return;
			this.follow(command, NOT_SETTLED_MS);
			super.sendCommand(command, undefined, { slot: command.getSlot() });
		};
		command.reject = (error: Error) => {
			command.reject = reject;
			const { message } = error;
			const isMoved = message.startsWith('MOVED ');
			if (message.startsWith('ASK ')) super.sendCommand(command);
			else if (isMoved && mustKeepOrder(command)) this.failAtOnce(reject, `Not followed: ${message}`);
			else if (isMoved) this.refreshSlotsCache(() => void setTimeout(sendAgain, pauseMs));
			else if (message === CLOSED)
				this.failAtOnce(reject, `${CLOSED} What was sent may have been carried out`);
			else reject.call(command, error);
		};
	}

	/** In words that ioredis does not know: by its own it would send the whole pipeline again. */
	private failAtOnce(reject: Command['reject'], words: string): void {
		this.refreshSlotsCache();
		reject(new Error(words));
	}
}

const CLOSED = 'Connection is closed.';
/** Nodes may not know yet which slots have moved. */
const NOT_SETTLED_MS = 50;

/** Later ones would overtake it. The publisher gets an error, and reports to subscribers that messages were lost. */
const mustKeepOrder = (command: Command): boolean => isPublication(command);

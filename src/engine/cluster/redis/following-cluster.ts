import { Cluster, type Command } from 'ioredis';
import { isPublication } from './scripts.ts';

/**
 * A client of a Redis Cluster that follows moved slots and nodes even for pipelined commands, and keeps one
 * time limit for each command.
 *
 * ioredis follows a redirected command (MOVED, ASK) that was sent alone. Of a pipeline it follows all or
 * none, and all only if they have the same redirect, which commands in several slots never have. Then each fails, and the
 * client does not refresh its slots: a moved slot, and every slot of a node whose connection was lost, stay broken
 * until the process ends. Here each of these commands, which were not executed, is sent again by itself.
 *
 * This class also prevents two things: ioredis would resend commands that a lost connection may have executed, and would let
 * commands wait without limit while no node is there, and execute them when nobody expects them any more.
 */
export class FollowingCluster extends Cluster {
	/** Until when each command may be sent. */
	private readonly deadlines = new WeakMap<Command, number>();

	override sendCommand(command: Command, stream?: Parameters<Cluster['sendCommand']>[1], node?: unknown) {
		const leftMs = this.leftFor(command);
		if (leftMs <= 0) {
			command.reject(new Error('Command timed out'));
			return command.promise;
		}
		command.setTimeout(leftMs);
		// `node` is given only for commands of a pipeline: all of them go to the same node.
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

	/** With a message that ioredis does not recognise: otherwise it would resend the whole pipeline. */
	private failAtOnce(reject: Command['reject'], words: string): void {
		this.refreshSlotsCache();
		reject(new Error(words));
	}
}

const CLOSED = 'Connection is closed.';
/** Nodes may not know yet which slots have moved. */
const NOT_SETTLED_MS = 50;

/** Later publications would overtake it. The publisher gets an error, and sends `lost` to subscribers. */
const mustKeepOrder = (command: Command): boolean => isPublication(command);

import { Cluster, type Command } from 'ioredis';
import { isPublication } from './scripts.ts';

/**
 * A client of a Redis Cluster that follows moved slots and nodes even for pipelined commands, and keeps one
 * time limit for each command.
 *
 * ioredis follows a redirect (MOVED, ASK) of a command that was sent alone. In a pipeline it does so only if all commands get the same
 * redirect, which commands in several slots never do; otherwise they all fail, and the client does not refresh its slots. Then a moved
 * slot, and every slot of a node whose connection was lost, would stay broken until the process ends. None of these commands was
 * executed. This class sends each of them again, alone.
 *
 * It also prevents two things: ioredis would resend commands that may have been executed before a connection was lost; and while no node
 * is reachable, ioredis would queue commands without a time limit and execute them after their callers have given up.
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
			this.follow(command, MOVING_PAUSE_MS);
			super.sendCommand(command, undefined, { slot: command.getSlot() });
		};
		command.reject = (error: Error) => {
			command.reject = reject;
			const { message } = error;
			const isMoved = message.startsWith('MOVED ');
			if (message.startsWith('ASK ')) super.sendCommand(command);
			else if (isMoved && mustKeepOrder(command)) this.failAtOnce(reject, `Not followed: ${message}`);
			else if (isMoved) this.refreshSlotsCache(() => void setTimeout(sendAgain, pauseMs));
			else if (message === CLOSED) this.failAtOnce(reject, `${CLOSED} The command may have been executed`);
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
const MOVING_PAUSE_MS = 50;

/** A resent publication could arrive after later ones. The publisher gets an error instead, and sends `lost` to subscribers. */
const mustKeepOrder = (command: Command): boolean => isPublication(command);

import { Cluster, type Command } from 'ioredis';

/**
 * A client of a Redis Cluster that finds slots and nodes again, also where commands go out together.
 *
 * ioredis follows a command that is told to go elsewhere (MOVED, ASK) where it was sent alone. Of a pipeline it follows all or
 * none, and all only if they are told the very same: with commands about several slots they never are. Then each fails, the
 * client does not look where slots are by now, and so it stays: for a slot that was given to another node, and for every slot
 * of a node whose connection was lost, until the process ends. Here each of them is sent again by itself. It was not carried out.
 */
export class FollowingCluster extends Cluster {
	override sendCommand(command: Command, stream?: Parameters<Cluster['sendCommand']>[1], node?: unknown) {
		// Those of a pipeline are sent with the node that all of them go to.
		if (node && !command.inTransaction) this.follow(command, 0);
		return super.sendCommand(command, stream, node);
	}

	private follow(command: Command, pauseMs: number): void {
		const { reject } = command;
		const sendAgain = (): void => {
			// It was waited for long enough: nobody expects it to be carried out any more.
			if (command.isSettled) return;
			this.follow(command, NOT_SETTLED_MS);
			super.sendCommand(command, undefined, { slot: command.getSlot() });
		};
		command.reject = (error: Error) => {
			command.reject = reject;
			if (error.message.startsWith('ASK ')) super.sendCommand(command);
			else if (error.message.startsWith('MOVED '))
				this.refreshSlotsCache(() => void setTimeout(sendAgain, pauseMs));
			else reject.call(command, error);
		};
	}
}

/** Nodes that were asked may not have heard yet of what has moved. */
const NOT_SETTLED_MS = 50;

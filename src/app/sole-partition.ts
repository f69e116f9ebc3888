import { Conversations, SEND_LOOKUPS_IN_PROCESS } from '../worker/conversations.ts';
import { Partition } from '../worker/partition.ts';
import { PersistFirst } from '../worker/persist-first.ts';
import { Replies } from '../worker/replies.ts';
import type { Engine } from './engine.ts';
import { nowMs, steadyMs } from './runtime.ts';

/** The worker of the embedded engine: the log has one partition, and this process always owns it. */

export interface SolePartitionOptions {
	readonly report: (error: unknown, about: string) => void;
	readonly sendLookups?: number;
}

export function startSolePartition(
	{ store, views, bus, clock, log, onCommitFailure }: Engine,
	{ report, sendLookups = SEND_LOOKUPS_IN_PROCESS }: SolePartitionOptions,
): Partition {
	const { source, history, ledger } = store;
	const partition = new Partition({
		conversations: new Conversations(source, history, steadyMs, undefined, sendLookups),
		views,
		pipeline: new PersistFirst({ views, ledger, bus, replies: new Replies(bus, report), clock }),
		onFailed: (error) => report(error, 'delivering decided effects'),
		nowMs,
		report,
	});
	onCommitFailure(() => partition.reset());
	log.consume((batch, span) => partition.process(batch, span));
	return partition;
}

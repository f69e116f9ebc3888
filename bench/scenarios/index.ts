import type { Scenario } from '../support/scenario.ts';
import { clientCounts } from './client-counts.ts';
import { clusterDelivery } from './cluster-delivery.ts';
import { clusterPosts } from './cluster-posts.ts';
import { clusterReads } from './cluster-reads.ts';
import { coldStart } from './cold-start.ts';
import { delivery } from './delivery.ts';
import { durablePosts } from './durable-posts.ts';
import { fanOut } from './fan-out.ts';
import { fanOutPeers } from './fan-out-peers.ts';
import { heavyCalls } from './heavy-calls.ts';
import { inboxList } from './inbox-list.ts';
import { memory } from './memory.ts';
import { postCostByHistory } from './post-cost-by-history.ts';
import { postCostBySize } from './post-cost-by-size.ts';
import { pushLarge } from './push-large.ts';
import { readMarks } from './read-marks.ts';
import { redisPosts } from './redis-posts.ts';
import { startUp } from './start-up.ts';

export const SCENARIOS: readonly Scenario[] = [
	postCostBySize,
	postCostByHistory,
	durablePosts,
	fanOut,
	fanOutPeers,
	delivery,
	readMarks,
	clientCounts,
	inboxList,
	memory,
	startUp,
	coldStart,
	heavyCalls,
	clusterPosts,
	clusterDelivery,
	pushLarge,
	clusterReads,
	redisPosts,
];

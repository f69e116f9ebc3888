import { openEmbeddedEngine } from '../../src/app/engine.ts';
import { Latencies } from '../../src/load/latencies.ts';
import type { ErrorCode } from '../../src/model/errors.ts';
import type { CountRow } from '../../src/model/rows.ts';
import { markChange, type OwnDecision } from '../../src/unread/marking.ts';

/** Marks without the network: how long until the read state has applied one, and until it is on disk. */

export interface MarksSpec {
	readonly dataDir: string;
	readonly channel: string;
	readonly users: readonly string[];
	/** Each mark of a user is one message further. */
	readonly marks: number;
}

export interface MarksReport {
	readonly appliedP95Ms: number;
	readonly durableP95Ms: number;
}

const EVERYTHING = Number.MAX_SAFE_INTEGER;

if (import.meta.main) {
	const spec = JSON.parse(await new Response(Bun.stdin.stream()).text()) as MarksSpec;
	const { views, store, close } = await openEmbeddedEngine(spec.dataDir);
	const entries = await store.source.timelineEntries(spec.channel, 0, EVERYTHING, EVERYTHING);
	const applied = new Latencies();
	const durable = new Latencies();
	for (let next = 0; next < spec.marks; next += 1) {
		const ts = entries[next]?.ts ?? 0;
		await Promise.all(
			spec.users.map(async (user) => {
				const began = performance.now();
				const mark = { type: 'read', ts, revision: undefined } as const;
				const change = await views.change<OwnDecision, ErrorCode, CountRow>(user, {
					...markChange(spec.channel, mark),
					onDurable: () => undefined,
				});
				applied.add(performance.now() - began);
				if (change === null || typeof change === 'string') throw new Error(`a mark was rejected: ${change}`);
				await change.durable;
				durable.add(performance.now() - began);
			}),
		);
	}
	await close();
	const report: MarksReport = { appliedP95Ms: applied.quantile(0.95), durableP95Ms: durable.quantile(0.95) };
	console.log(JSON.stringify(report));
	process.exit(0);
}

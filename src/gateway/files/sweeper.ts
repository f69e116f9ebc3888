import { PeriodicJob } from '../../model/periodic-job.ts';
import type { FileServices, Services } from '../services.ts';
import { leaveTombstones, removeContent } from './removal.ts';

/**
 * Removes uploads that were never completed and finishes interrupted deletions. Every gateway runs a sweeper: each
 * step can be repeated.
 */

export const UPLOAD_HOURS = 24;
const SWEEP_EVERY_MS = 60_000;
const BATCH_SIZE = 100;

export interface SweeperParts {
	readonly files: FileServices;
	readonly requests: Services['requests'];
	readonly nowMicros: () => number;
	readonly failed: (error: unknown) => void;
}

export class FileSweeper {
	private readonly job: PeriodicJob;

	constructor(private readonly parts: SweeperParts) {
		this.job = new PeriodicJob(SWEEP_EVERY_MS, () => this.sweep(), parts.failed);
	}

	stop(): Promise<void> {
		return this.job.stop();
	}

	async sweep(): Promise<void> {
		const { files, requests, nowMicros } = this.parts;
		const { records, contents } = files;
		await records.abandon(nowMicros() - UPLOAD_HOURS * 3600e6);
		for (const { id } of await records.inState('abandoned', nowMicros(), BATCH_SIZE)) {
			await contents.remove(id);
			await records.remove(id);
		}
		for (const file of await records.inState('deleting', nowMicros(), BATCH_SIZE)) {
			await leaveTombstones({ requests }, files, file);
			await removeContent(files, file);
		}
	}
}

import { Refusal } from '../../model/errors.ts';
import type { FileServices, Services } from '../services.ts';
import { leaveTombstones, removeContent } from './removal.ts';

/**
 * Cleans up after uploads that were never completed, and finishes deletions that a crash or an outage interrupted. Every gateway
 * looks: each step can be repeated.
 */

export const UPLOAD_HOURS = 24;
const LOOK_EVERY_MS = 60_000;
const AT_ONCE = 100;

export interface SweeperParts {
	readonly files: FileServices;
	readonly requests: Services['requests'];
	readonly nowMicros: () => number;
	readonly failed: (error: unknown) => void;
}

export class FileSweeper {
	private readonly timer: ReturnType<typeof setInterval>;
	private underWay: Promise<void> | null = null;

	constructor(private readonly parts: SweeperParts) {
		this.timer = setInterval(() => {
			this.underWay ??= this.sweep()
				.catch((error) => {
					// Services that are down are reported by their own watch; the next look tries again.
					if (!(error instanceof Refusal)) parts.failed(error);
				})
				.finally(() => {
					this.underWay = null;
				});
		}, LOOK_EVERY_MS);
		this.timer.unref?.();
	}

	async stop(): Promise<void> {
		clearInterval(this.timer);
		await this.underWay;
	}

	async sweep(): Promise<void> {
		const { files, requests, nowMicros } = this.parts;
		const { records, contents } = files;
		await records.abandon(nowMicros() - UPLOAD_HOURS * 3600e6);
		for (const { id } of await records.inState('abandoned', nowMicros(), AT_ONCE)) {
			await contents.remove(id);
			await records.forget(id);
		}
		for (const file of await records.inState('deleting', nowMicros(), AT_ONCE)) {
			await leaveTombstones({ requests }, files, file);
			await removeContent(files, file);
		}
	}
}

import type { Answer, Api } from './api.ts';
import type { Platform } from './platform.ts';
import type { FileLink } from './types.ts';

/**
 * Links to files that work without a token. Links that are requested within a few milliseconds are fetched with one
 * call, and cached until a minute before they expire.
 */

const COLLECT_MS = 5;
const MAX_BATCH = 100;
const BEFORE_EXPIRY_MS = 60_000;

interface Waiting {
	readonly resolve: (link: FileLink | null) => void;
	readonly reject: (error: unknown) => void;
}

export class FileLinks {
	private readonly known = new Map<string, FileLink>();
	private waiting = new Map<string, Waiting[]>();

	constructor(
		private readonly api: Api,
		private readonly platform: Pick<Platform, 'now' | 'timers'>,
	) {}

	/** Null: the file does not exist any more, or the user may not see it. */
	link(id: string): Promise<FileLink | null> {
		const known = this.known.get(id);
		if (known && known.expires * 1000 - BEFORE_EXPIRY_MS > this.platform.now()) return Promise.resolve(known);
		return new Promise((resolve, reject) => {
			if (this.waiting.size === 0) this.platform.timers.set(() => void this.fetch(), COLLECT_MS);
			this.waiting.set(id, [...(this.waiting.get(id) ?? []), { resolve, reject }]);
		});
	}

	private async fetch(): Promise<void> {
		const { waiting } = this;
		this.waiting = new Map();
		const ids = [...waiting.keys()];
		for (let start = 0; start < ids.length; start += MAX_BATCH) {
			const some = ids.slice(start, start + MAX_BATCH);
			try {
				await this.fetchSome(some);
				for (const id of some)
					for (const { resolve } of waiting.get(id) ?? []) resolve(this.known.get(id) ?? null);
			} catch (error) {
				for (const id of some) for (const { reject } of waiting.get(id) ?? []) reject(error);
			}
		}
	}

	private async fetchSome(ids: readonly string[]): Promise<void> {
		const { links }: Answer = await this.api.callIdempotent('files.getLinks', { files: ids });
		for (const id of ids) this.known.delete(id);
		for (const { id, url, download_url, expires } of links)
			this.known.set(id, {
				url: this.api.reachableUrl(url),
				downloadUrl: this.api.reachableUrl(download_url),
				expires,
			});
	}
}

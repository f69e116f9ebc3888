import type { Answer, Api } from './api.ts';
import type { Platform } from './platform.ts';
import type { FileLink } from './types.ts';

/**
 * Addresses that a page shows files from without a token. Those that are asked for together are fetched together, and kept until a minute
 * before their end.
 */

const COLLECT_MS = 5;
const MOST_AT_ONCE = 100;
const BEFORE_END_MS = 60_000;

interface Asked {
	readonly resolve: (link: FileLink | null) => void;
	readonly reject: (error: unknown) => void;
}

export class FileLinks {
	private readonly known = new Map<string, FileLink>();
	private asked = new Map<string, Asked[]>();

	constructor(
		private readonly api: Api,
		private readonly platform: Pick<Platform, 'now' | 'timers'>,
	) {}

	/** Null: there is no such file any more, or the user may not see it. */
	link(id: string): Promise<FileLink | null> {
		const known = this.known.get(id);
		if (known && known.expires * 1000 - BEFORE_END_MS > this.platform.now()) return Promise.resolve(known);
		return new Promise((resolve, reject) => {
			if (this.asked.size === 0) this.platform.timers.set(() => void this.fetch(), COLLECT_MS);
			this.asked.set(id, [...(this.asked.get(id) ?? []), { resolve, reject }]);
		});
	}

	private async fetch(): Promise<void> {
		const { asked } = this;
		this.asked = new Map();
		const ids = [...asked.keys()];
		for (let start = 0; start < ids.length; start += MOST_AT_ONCE) {
			const some = ids.slice(start, start + MOST_AT_ONCE);
			try {
				await this.fetchSome(some);
				for (const id of some)
					for (const { resolve } of asked.get(id) ?? []) resolve(this.known.get(id) ?? null);
			} catch (error) {
				for (const id of some) for (const { reject } of asked.get(id) ?? []) reject(error);
			}
		}
	}

	private async fetchSome(ids: readonly string[]): Promise<void> {
		const { links }: Answer = await this.api.ask('files.getLinks', { files: ids });
		for (const id of ids) this.known.delete(id);
		for (const { id, url, download_url, expires } of links)
			this.known.set(id, {
				url: this.api.localAddress(url),
				downloadUrl: this.api.localAddress(download_url),
				expires,
			});
	}
}

import type { Directory, Token, TokenUse } from '../../engine/ports/store.ts';

/**
 * Records when tokens were last used, to within some minutes. Uses are collected and written in batches, so that a
 * thousand clients that connect together cost one small write. A crash loses the uses of the last 30 s.
 */

/** A use this soon after the recorded one is not written. */
const WITHIN_MICROS = 5 * 60 * 1e6;
/** Maximum size of a batch; further uses wait for the next one. */
const MAX_BATCH = 2_000;

export class TokenUses {
	private readonly waiting = new Map<string, number>();

	constructor(private readonly directory: Pick<Directory, 'noteTokenUse'>) {}

	/** `token` is as read from the store. */
	note({ hash, lastUsedTs }: Token, at: number): void {
		if (lastUsedTs === undefined || at - lastUsedTs > WITHIN_MICROS) this.waiting.set(hash, at);
	}

	/** Rejects if the store is unavailable; the uses of this batch are lost. */
	async flush(): Promise<void> {
		const uses: TokenUse[] = [];
		for (const [hash, at] of this.waiting) {
			if (uses.length === MAX_BATCH) break;
			uses.push({ hash, at });
			this.waiting.delete(hash);
		}
		if (uses.length > 0) await this.directory.noteTokenUse(uses);
	}
}

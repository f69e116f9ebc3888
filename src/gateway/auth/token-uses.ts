import type { Directory, Token, TokenUse } from '../../engine/ports/store.ts';

/**
 * When tokens were last used, to within some minutes: uses are collected and written together now and then, so that a
 * thousand clients that connect at once cost one small batch. What a crash loses of them is the last minute.
 */

/** A use so soon after the recorded one is not written. */
const WITHIN_MICROS = 5 * 60 * 1e6;
/** Written at once; the others wait for the next time. */
const MOST_AT_ONCE = 2_000;

export class TokenUses {
	private readonly waiting = new Map<string, number>();

	constructor(private readonly directory: Pick<Directory, 'noteTokenUse'>) {}

	/** Called with a token as the store has it. */
	note({ hash, lastUsedTs }: Token, at: number): void {
		if (lastUsedTs === undefined || at - lastUsedTs > WITHIN_MICROS) this.waiting.set(hash, at);
	}

	/** Rejects where the store is unavailable: the uses are lost then, and the next ones are noted. */
	async flush(): Promise<void> {
		const uses: TokenUse[] = [];
		for (const [hash, at] of this.waiting) {
			if (uses.length === MOST_AT_ONCE) break;
			uses.push({ hash, at });
			this.waiting.delete(hash);
		}
		if (uses.length > 0) await this.directory.noteTokenUse(uses);
	}
}

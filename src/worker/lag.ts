import type { CommandEntry } from '../engine/ports/log.ts';

/** How long ago the newest of these commands was asked for, by the clock of whoever took it; ms. */
export const ageMs = (batch: readonly CommandEntry[], nowMs: number): number =>
	Math.max(0, nowMs - (batch.at(-1)?.command.at ?? 0) / 1000);

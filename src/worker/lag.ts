import type { CommandEntry } from '../engine/ports/log.ts';

/** Age of the newest of these commands, by the clock of the gateway that received it; ms. */
export const ageMs = (batch: readonly CommandEntry[], nowMs: number): number =>
	Math.max(0, nowMs - (batch.at(-1)?.command.at ?? 0) / 1000);

import { formatPosition } from '../model/position.ts';
import { formatTs } from '../model/ts.ts';
import type { JsonObject } from './objects.ts';

/** The stamp of the change, as events carry it: when it happened, and how far a client is that saw it. */
export const stamped = (at: number): JsonObject => ({
	event_ts: formatTs(at),
	position: formatPosition(at),
});

import { formatPosition } from '../model/position.ts';
import { formatTs } from '../model/ts.ts';
import type { JsonObject } from './objects.ts';

/** The fields of an event that carry the stamp of its change: as the time, and as the position of a client that received it. */
export const stamped = (at: number): JsonObject => ({
	event_ts: formatTs(at),
	position: formatPosition(at),
});

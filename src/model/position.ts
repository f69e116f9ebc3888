/**
 * What a count is true at. On the wire an opaque string of fixed width; of the same thing, a later
 * one sorts after an earlier one. Behind it stands the stamp of the newest change that went in.
 */

const WIDTH = 16;
const POSITION = /^\d{16}$/;

export const formatPosition = (stamp: number): string => String(stamp).padStart(WIDTH, '0');

export const parsePosition = (text: string): number | undefined =>
	POSITION.test(text) ? Number(text) : undefined;

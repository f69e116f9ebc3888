import type { Connection } from './connection.ts';

/**
 * What all sockets together have not taken yet is bounded as well: each may be within its own buffer, and all of them too much
 * for the process. Those furthest behind are cut off; they resume.
 */
export function shedSlowest(connections: Iterable<Connection>, mostBytes: number): number {
	const behind: { readonly connection: Connection; readonly bytes: number }[] = [];
	let total = 0;
	for (const connection of connections) {
		const bytes = connection.bufferedBytes;
		if (bytes === 0) continue;
		total += bytes;
		behind.push({ connection, bytes });
	}
	if (total <= mostBytes) return 0;
	let shed = 0;
	for (const { connection, bytes } of behind.sort((a, b) => b.bytes - a.bytes)) {
		if (total <= mostBytes) break;
		connection.close('too_slow');
		total -= bytes;
		shed += 1;
	}
	return shed;
}

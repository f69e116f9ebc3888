import type { Connection } from './connection.ts';

/**
 * Bounds the unread output of all sockets together: each may be within its own limit while their sum is too much
 * for the process. Disconnects the slowest clients, which resume.
 */
export function shedSlowest(
	eachConnection: (visit: (connection: Connection) => void) => void,
	mostBytes: number,
): number {
	const behind: { readonly connection: Connection; readonly bytes: number }[] = [];
	let total = 0;
	eachConnection((connection) => {
		const bytes = connection.bufferedBytes;
		if (bytes === 0) return;
		total += bytes;
		behind.push({ connection, bytes });
	});
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

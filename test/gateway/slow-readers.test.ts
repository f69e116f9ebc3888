import { expect, test } from 'bun:test';
import type { Connection } from '../../src/gateway/socket/connection.ts';
import { shedSlowest } from '../../src/gateway/socket/slow-readers.ts';

const reader = (bufferedBytes: number, closed: number[]) =>
	({ bufferedBytes, close: () => closed.push(bufferedBytes) }) as unknown as Connection;

test('the sockets that are furthest behind are closed until the rest fits', () => {
	const closed: number[] = [];
	const readers = [0, 10, 40, 30, 5].map((bytes) => reader(bytes, closed));
	const eachReader = (visit: (connection: Connection) => void) => readers.forEach(visit);
	expect(shedSlowest(eachReader, 85)).toBe(0);
	expect(shedSlowest(eachReader, 20)).toBe(2);
	expect(closed).toEqual([40, 30]);
});

import { expect, test } from 'bun:test';
import { MemoryTickets } from '../../src/engine/embedded/memory-tickets.ts';
import { admissionOf, HandClock, random, rejectionOf, userNamed } from './support.ts';

const ADMISSION = admissionOf(userNamed('U1'), { since: 5 });

test('a ticket works once', async () => {
	const tickets = new MemoryTickets(new HandClock().now, random);
	const ticket = await tickets.issue(ADMISSION);
	expect(await tickets.redeem(ticket)).toEqual(ADMISSION);
	expect(await tickets.redeem(ticket)).toBeNull();
});

test('tickets cannot be guessed, and fit into an address', async () => {
	const tickets = new MemoryTickets(new HandClock().now, random);
	const issued = new Set(await Promise.all(Array.from({ length: 1000 }, () => tickets.issue(ADMISSION))));
	expect(issued.size).toBe(1000);
	for (const ticket of issued) expect(ticket).toMatch(/^[\w-]{32}$/);
	expect(await tickets.redeem('')).toBeNull();
});

test('a ticket is valid for 30 seconds', async () => {
	const clock = new HandClock();
	const tickets = new MemoryTickets(clock.now, random);
	const [early, late] = [await tickets.issue(ADMISSION), await tickets.issue(ADMISSION)];
	clock.pass(29_999);
	expect(await tickets.redeem(early)).toEqual(ADMISSION);
	clock.pass(1);
	expect(await tickets.redeem(late)).toBeNull();
});

test('the number of tickets is limited; expired ones make room', async () => {
	const clock = new HandClock();
	const tickets = new MemoryTickets(clock.now, random, 2);
	await tickets.issue(ADMISSION);
	await tickets.issue(ADMISSION);
	expect(await rejectionOf(() => tickets.issue(ADMISSION))).toBe('service_unavailable');
	clock.pass(30_000);
	expect(await tickets.issue(ADMISSION)).toBeString();
});

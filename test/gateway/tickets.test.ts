import { expect, test } from 'bun:test';
import { type Admission, Tickets } from '../../src/gateway/tickets.ts';
import { HandClock, random, refusalOf, TEAM, userNamed } from './support.ts';

const ADMISSION: Admission = {
	user: userNamed('U1'),
	team: TEAM,
	tokenHash: 'h',
	expiresAt: Number.POSITIVE_INFINITY,
	options: { since: 5 },
};

test('a ticket admits once', () => {
	const tickets = new Tickets(new HandClock().now, random);
	const ticket = tickets.issue(ADMISSION);
	expect(tickets.redeem(ticket)).toEqual(ADMISSION);
	expect(tickets.redeem(ticket)).toBeNull();
});

test('tickets are not to be guessed, and fit into an address', () => {
	const tickets = new Tickets(new HandClock().now, random);
	const issued = new Set(Array.from({ length: 1000 }, () => tickets.issue(ADMISSION)));
	expect(issued.size).toBe(1000);
	for (const ticket of issued) expect(ticket).toMatch(/^[\w-]{32}$/);
	expect(tickets.redeem('')).toBeNull();
});

test('a ticket is good for 30 seconds', () => {
	const clock = new HandClock();
	const tickets = new Tickets(clock.now, random);
	const [early, late] = [tickets.issue(ADMISSION), tickets.issue(ADMISSION)];
	clock.pass(29_999);
	expect(tickets.redeem(early)).toEqual(ADMISSION);
	clock.pass(1);
	expect(tickets.redeem(late)).toBeNull();
});

test('there are only so many; what expired makes room', async () => {
	const clock = new HandClock();
	const tickets = new Tickets(clock.now, random, 2);
	tickets.issue(ADMISSION);
	tickets.issue(ADMISSION);
	expect(await refusalOf(() => tickets.issue(ADMISSION))).toBe('service_unavailable');
	clock.pass(30_000);
	expect(tickets.issue(ADMISSION)).toBeString();
});

import { afterEach, expect, test } from 'bun:test';
import { MemoryTickets } from '../../src/engine/embedded/memory-tickets.ts';
import type { Tickets } from '../../src/engine/ports/tickets.ts';
import { TestSocket } from '../support/socket.ts';
import { listeningGateway } from './listening-gateway.ts';
import { admissionOf, random, userNamed } from './support.ts';

/**
 * An upgrade waits for the lookup of its ticket, and is accepted even with a bad ticket, so that the client gets the
 * reason of the rejection.
 */

const ADMISSION = admissionOf(userNamed('U1'));

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

/** Tickets that are stored elsewhere, as in Redis. */
function remoteTickets(): Tickets {
	const tickets = new MemoryTickets(Date.now, random);
	return {
		issue: (admission) => tickets.issue(admission),
		redeem: async (ticket) => {
			const admission = await tickets.redeem(ticket);
			await Bun.sleep(20);
			if (ticket === 'unlucky') throw new Error('as if Redis did not answer');
			return admission;
		},
	};
}

function scene() {
	const tickets = remoteTickets();
	const gateway = listeningGateway({ tickets });
	closing.push(gateway.stop);
	const open = (ticket: string) =>
		new TestSocket(`ws://127.0.0.1:${gateway.port}/rtm?ticket=${encodeURIComponent(ticket)}`);
	return { ...gateway, tickets, open };
}

test('a ticket of another gateway opens a socket, once', async () => {
	const { tickets, open } = scene();
	const ticket = await tickets.issue(ADMISSION);
	const first = open(ticket);
	await first.seen({ type: 'hello' });
	const second = open(ticket);
	expect((await second.closed).code).toBe(4202);
	expect(second.frames).toMatchObject([{ type: 'error', error: { code: 1 } }]);
	await first.settled();
});

test('the ticket is in the path or in the query', async () => {
	const { tickets, port, open } = scene();
	const inPath = new TestSocket(`ws://127.0.0.1:${port}/rtm/${await tickets.issue(ADMISSION)}`);
	expect(await inPath.seen({ type: 'hello' })).not.toHaveProperty('reply_to');
	await inPath.settled();
	expect(inPath.having({ type: 'pong' })).toHaveLength(1);
	await open(await tickets.issue(ADMISSION)).seen({ type: 'hello' });
});

test('hello has reply_to only for a client that waits for it', async () => {
	const { tickets, open } = scene();
	const options = { ...ADMISSION.options, helloReplies: true };
	const waiting = open(await tickets.issue({ ...ADMISSION, options }));
	expect(await waiting.seen({ type: 'hello' })).toMatchObject({ reply_to: 1 });
});

test('without a ticket the socket opens, gets the reason, and closes', async () => {
	const { port } = scene();
	for (const address of ['/rtm', '/rtm/', '/rtm?', '/rtm?ticket=', '/rtm/none?x=1']) {
		const socket = new TestSocket(`ws://127.0.0.1:${port}${address}`);
		expect([address, (await socket.closed).code]).toEqual([address, 4202]);
		expect(socket.frames).toMatchObject([{ type: 'error', error: { code: 1 } }]);
	}
});

test('if two sockets open with one ticket at once, one is admitted', async () => {
	const { tickets, open } = scene();
	const ticket = await tickets.issue(ADMISSION);
	const sockets = [open(ticket), open(ticket)];
	const ends = await Promise.all(
		sockets.map((socket) =>
			Promise.race([
				socket.seen({ type: 'hello' }).then(() => 'admitted'),
				socket.closed.then(({ code }) => code),
			]),
		),
	);
	expect(ends.map(String).sort()).toEqual(['4202', 'admitted']);
});

test('an unknown ticket gets an error', async () => {
	const { open } = scene();
	for (const ticket of ['', 'never issued']) expect((await open(ticket).closed).code).toBe(4202);
});

test('if a ticket cannot be looked up, the client is told to reconnect', async () => {
	const { open, failures } = scene();
	const socket = open('unlucky');
	expect((await socket.closed).code).toBe(4000);
	expect(socket.frames).toEqual([]);
	expect(failures).toEqual(['rtm.redeem_ticket']);
});

test('a plain HTTP request to the socket address gets an error', async () => {
	const { port } = scene();
	const response = await fetch(`http://127.0.0.1:${port}/rtm?ticket=x`, { headers: { upgrade: 'other' } });
	expect(response.status).toBe(426);
});

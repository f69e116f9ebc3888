import { afterEach, expect, test } from 'bun:test';
import { MemoryTickets } from '../../src/engine/embedded/memory-tickets.ts';
import { Rejection } from '../../src/model/errors.ts';
import { TestSocket } from '../support/socket.ts';
import { listeningGateway } from './listening-gateway.ts';
import { admissionOf, random, userNamed } from './support.ts';

/** A socket whose session cannot start is closed after a pause, because clients reconnect at once. */

const WATCHED_MS = 4_000;
const LEAST_PAUSE_MS = 1_000;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

function scene() {
	const tickets = new MemoryTickets(Date.now, random);
	const state = { isDown: true, asked: 0 };
	const gateway = listeningGateway({
		tickets,
		memberships: async () => {
			state.asked += 1;
			if (state.isDown) throw new Rejection('service_unavailable', 'read state is being restored');
			return [];
		},
	});
	closing.push(gateway.stop);
	const open = async (): Promise<TestSocket> => {
		const admission = admissionOf(userNamed('U1'));
		return new TestSocket(`ws://127.0.0.1:${gateway.port}/rtm?ticket=${await tickets.issue(admission)}`);
	};
	return { ...gateway, state, open };
}

test('a client that reconnects at once makes few attempts, and connects as soon as it can', async () => {
	const { open, state } = scene();
	const end = Date.now() + WATCHED_MS;
	while (Date.now() < end) {
		const { code } = await (await open()).closed;
		expect(code).toBe(4000);
	}
	expect(state.asked).toBeLessThanOrEqual(WATCHED_MS / LEAST_PAUSE_MS + 1);
	state.isDown = false;
	const socket = await open();
	await socket.seen({ type: 'hello' });
	socket.close();
});

test('a client that leaves during the pause, and a server that stops, do not wait for it', async () => {
	const { open, state, hub } = scene();
	const socket = await open();
	while (state.asked === 0) await Bun.sleep(1);
	socket.close();
	await socket.closed;
	while (hub.users > 0) await Bun.sleep(1);
	const other = await open();
	while (state.asked === 1) await Bun.sleep(1);
	for (const close of closing.splice(0)) await close();
	expect((await other.closed).code).toBe(4000);
});

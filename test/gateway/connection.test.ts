import { beforeEach, describe, expect, test } from 'bun:test';
import { Connection, type Socket } from '../../src/gateway/socket/connection.ts';
import { SentEvents } from '../../src/gateway/socket/sent-events.ts';

/** A socket whose client reads sent data when the test says so. */
class FakeSocket implements Socket {
	readonly sent: string[] = [];
	closedWith: number | undefined;
	slow = false;
	private buffered = 0;

	send(frame: string): number {
		this.sent.push(frame);
		if (this.slow) this.buffered += frame.length;
		return frame.length;
	}
	ping(): number {
		return 1;
	}
	cork(callback: () => void): void {
		callback();
	}
	close(code: number): void {
		this.closedWith = code;
	}
	getBufferedAmount(): number {
		return this.buffered;
	}
	take(): void {
		this.buffered = 0;
	}
}

let socket: FakeSocket;
let connection: Connection;
let due: Connection[];
beforeEach(() => {
	socket = new FakeSocket();
	due = [];
	connection = new Connection('s1', 'U1', 'T1', 'hash', false, socket, (one) => due.push(one));
});

const flush = (): void => {
	for (const one of due.splice(0)) one.flush();
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('without resuming', () => {
	test('a socket gets nothing before its hello, and everything after it', async () => {
		connection.send('early', 1);
		await connection.sendPaced(['hello']);
		connection.release(1);
		connection.send('typing');
		connection.send('later', 2);
		flush();
		expect(socket.sent).toEqual(['hello', 'typing', 'later']);
	});
});

describe('resuming', () => {
	test('live events follow the missed events, without those that were among them', async () => {
		connection.hold();
		connection.send('held 1', 1);
		connection.send('held 2', 2);
		connection.send('new 3', 3);
		await connection.sendPaced(['hello', 'missed 1', 'missed 2']);
		connection.send('typing');
		connection.release(2);
		connection.send('late 2', 2);
		connection.send('new 4', 4);
		flush();
		expect(socket.sent).toEqual(['hello', 'missed 1', 'missed 2', 'new 3', 'typing', 'new 4']);
	});

	test('held events are not sent twice, and neither are older events of the same subject', async () => {
		const event = (ts: number, at: number, text: string) => JSON.stringify({ ts, at, text });
		const missed = [event(5, 8, 'now')];
		connection.hold();
		for (const [ts, at] of [
			[5, 5],
			[5, 7],
			[5, 8],
			[6, 6],
			[5, 9],
		] as const)
			connection.send(event(ts, at, 'live'), at, `C1 message ${ts}`);
		await connection.sendPaced(missed);
		connection.release(0, new SentEvents([{ subject: 'C1 message 5', asOf: 8 }]));
		flush();
		expect(socket.sent).toEqual([...missed, event(6, 6, 'live'), event(5, 9, 'live')]);
	});

	test('missed events are sent no faster than the client reads them', async () => {
		socket.slow = true;
		connection.hold();
		const frames = Array.from({ length: 10 }, (_, index) => `${index}`.padEnd(9_000, '.'));
		const poured = connection.sendPaced(frames);
		await turn();
		expect(socket.sent).toHaveLength(2);
		connection.send('new', 5);
		for (let sent = 2; sent < frames.length; sent += 2) {
			socket.take();
			connection.drained();
			await turn();
			expect(socket.sent).toHaveLength(sent + 2);
		}
		socket.take();
		connection.drained();
		await poured;
		connection.release(4);
		flush();
		expect(socket.sent).toEqual([...frames, 'new']);
	});

	test('a socket that closes while it catches up stops, and nothing waits for it', async () => {
		socket.slow = true;
		connection.hold();
		const poured = connection.sendPaced(['a'.repeat(20_000), 'b']);
		await turn();
		connection.closed();
		await poured;
		connection.release(0);
		connection.send('new', 1);
		flush();
		expect(socket.sent).toHaveLength(1);
	});

	test('a socket that takes too long to catch up is closed, so that it resumes', () => {
		connection.hold();
		const frame = 'x'.repeat(1_000_000);
		for (let index = 1; index <= 5; index += 1) connection.send(frame, index);
		flush();
		expect(socket.closedWith).toBe(4001);
		expect(connection.isClosed).toBe(true);
	});
});

import { expect, test } from 'bun:test';
import { Outgoing, type OutgoingParts } from './outgoing.ts';

const URL_OF_APP = 'https://app.example/events';

const post = (parts: Partial<OutgoingParts>, url = URL_OF_APP, timeoutMs = 10_000) =>
	new Outgoing({
		allowsPrivate: true,
		resolve: async () => ['93.184.216.34'],
		fetch: async () => new Response('ok'),
		...parts,
	}).post(url, '{}', {}, timeoutMs);

test.each([
	'[::ffff:169.254.169.254]',
	'[::ffff:a9fe:a9fe]',
	'[0:0:0:0:0:ffff:a9fe:a9fe]',
	'[::169.254.169.254]',
	'[::ffff:0:169.254.169.254]',
	'[64:ff9b::169.254.169.254]',
	'[2002:a9fe:a9fe::1]',
	'[FE80::1]',
	'2852039166',
	'0xa9fea9fe',
	'0251.0376.0251.0376',
	'169.254.169.254.',
])('the link-local address %s is never contacted', async (host) => {
	await expect(post({}, `http://${host}/`)).rejects.toThrow('link-local');
});

test.each([
	'[::ffff:10.1.2.3]',
	'[::ffff:7f00:1]',
	'[64:ff9b::192.168.1.1]',
	'[64:ff9b:1::1]',
	'[2002:ac10:1::1]',
	'[::]',
	'[0:0:0:0:0:0:0:1]',
	'[fd00::1]',
	'[feff::1]',
	'0.0.0.0',
	'127.1',
	'0x7f000001',
])('the private address %s is contacted only if the operator allows it', async (host) => {
	await expect(post({ allowsPrivate: false }, `http://${host}/`)).rejects.toThrow('private');
	expect((await post({}, `http://${host}/`)).status).toBe(200);
});

test.each(['[2606:2800:220:1::1]', '[::ffff:93.184.216.34]', '[64:ff9b::93.184.216.34]', '172.32.0.1'])(
	'the public address %s is contacted',
	async (host) => {
		expect((await post({ allowsPrivate: false }, `http://${host}/`)).status).toBe(200);
	},
);

test('the time limit includes the look-up of the name', async () => {
	const resolve = async () => {
		await Bun.sleep(2_000);
		return ['93.184.216.34'];
	};
	await expect(post({ resolve }, URL_OF_APP, 10)).rejects.toMatchObject({ reason: 'http_timeout' });
});

test('an endless answer is not read to its end', async () => {
	let sentBytes = 0;
	let isCancelled = false;
	const answer = new ReadableStream<Uint8Array>({
		pull: (controller) => {
			if (sentBytes >= 50_000_000) return controller.close();
			sentBytes += 100_000;
			controller.enqueue(new Uint8Array(100_000));
		},
		cancel: () => {
			isCancelled = true;
		},
	});
	await expect(post({ fetch: async () => new Response(answer) })).rejects.toThrow('too large');
	expect(sentBytes).toBeLessThan(2_000_000);
	expect(isCancelled).toBe(true);
});

test('an answer in several parts is one text', async () => {
	const [start, end] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
	const answer = new ReadableStream<Uint8Array>({
		start: (controller) => {
			controller.enqueue(start);
			controller.enqueue(end);
			controller.close();
		},
	});
	expect((await post({ fetch: async () => new Response(answer) })).text).toBe('é');
	expect((await post({ fetch: async () => new Response(null) })).text).toBe('');
});

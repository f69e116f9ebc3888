import { afterEach, expect, test } from 'bun:test';
import { residentMb, type SlowClients, slowClients } from '../support/abuse/slow-clients.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { type ServerProcess, testServerProcess, withDirectory } from '../support/process.ts';

/** Uploads that never end use a bounded amount of memory, and delay nobody else. */

const BODY = Buffer.alloc(1_000_000, 'a');
const UPLOADS = 300;
/** All uploads together would be 300 MB. */
const MAX_MB = 150;

const left: SlowClients[] = [];
afterEach(() => {
	for (const clients of left.splice(0)) clients.end();
});

/** The body without its end. */
const upload = (headers: string, length = BODY.length) =>
	Buffer.concat([
		Buffer.from(
			`POST /api/chat.postMessage HTTP/1.1\r\nHost: localhost\r\n${headers}` +
				`Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n`,
		),
		BODY.subarray(0, length - 10),
	]);

async function begin(server: ServerProcess, headers: (index: number) => string, length?: number) {
	const clients = await slowClients(server.url, UPLOADS, (index) => upload(headers(index), length));
	left.push(clients);
	return clients;
}

const withServer = (work: (server: ServerProcess, ada: Person, grace: Person) => Promise<void>) =>
	withDirectory(async (directory) => {
		const server = await testServerProcess(directory);
		const [ada, grace] = (await makeWorkspace(server.url, 2)).people as [Person, Person];
		await work(server, ada, grace);
		await server.end('SIGTERM');
	});

/** Another user's call with a body succeeds while the uploads are open. */
async function expectServed(person: Person, name: string): Promise<void> {
	const { channel } = await person.call('conversations.create', { name });
	const text = 'x'.repeat(30_000);
	expect((await person.call('chat.postMessage', { channel: channel.id, text })).ok).toBe(true);
}

const growth = async (server: ServerProcess, before: number): Promise<number> => {
	// The bodies arrive within moments; afterwards the memory no longer changes.
	await Bun.sleep(1_500);
	return (await residentMb(server.url)) - before;
};

test(
	'by anonymous clients, without a token',
	() =>
		withServer(async (server, ada) => {
			await expectServed(ada, 'before');
			const before = await residentMb(server.url);
			await begin(server, () => '');
			expect(await growth(server, before)).toBeLessThan(MAX_MB);
			await expectServed(ada, 'after');
		}),
	60_000,
);

test(
	'by anonymous clients, with unknown tokens',
	() =>
		withServer(async (server, ada) => {
			await expectServed(ada, 'before');
			const before = await residentMb(server.url);
			await begin(server, (index) => `Authorization: Bearer xoxp-${index}-nobody\r\n`);
			expect(await growth(server, before)).toBeLessThan(MAX_MB);
			await expectServed(ada, 'after');
		}),
	60_000,
);

test(
	'by one user, while another user is served',
	() =>
		withServer(async (server, ada, grace) => {
			await expectServed(ada, 'before');
			const before = await residentMb(server.url);
			await begin(server, () => `Authorization: Bearer ${grace.token}\r\n`);
			expect(await growth(server, before)).toBeLessThan(MAX_MB);
			await expectServed(ada, 'after');
		}),
	60_000,
);

test(
	'by an anonymous client whose small body stalls: the server closes the connection in time',
	() =>
		withServer(async (server) => {
			const clients = await begin(server, () => '', 2_000);
			while (clients.closed() < UPLOADS) await Bun.sleep(50);
			for (const answer of clients.received()) expect(answer).toMatch(/request_timeout|ratelimited/);
		}),
	60_000,
);

test(
	'a token in a form body works; if the body is too large, the answer says how to send the token',
	() =>
		withServer(async (server, ada) => {
			const post = async (body: string) => {
				const headers = { 'content-type': 'application/x-www-form-urlencoded' };
				const response = await fetch(`${server.url}/api/auth.test`, { method: 'POST', headers, body });
				return (await response.json()) as { ok: boolean; error?: string };
			};
			expect((await post(`token=${ada.token}`)).ok).toBe(true);
			const large = await post(`token=${ada.token}&ignored=${'x'.repeat(200_000)}`);
			expect(large).toMatchObject({ ok: false, error: 'not_authed' });
			expect(JSON.stringify(large)).toContain('Authorization');
		}),
	60_000,
);

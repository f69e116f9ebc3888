import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Bucket } from '../../src/engine/cluster/s3-bucket.ts';
import { fileContract } from '../contract/file-contract.ts';
import { eventually } from '../support/eventually.ts';
import { makeWorkspace, type Person } from '../support/people.ts';
import { build } from '../support/sdk-programs.ts';
import { startEmbedded } from '../support/server.ts';
import { download, shared } from '../support/uploads.ts';

/** Files in a bucket of s3rver, an S3-compatible server that checks signatures, installed from npm's registry. */

const S3RVER = 's3rver@3.7.1';
const NEEDS = 'npm, and a registry that has s3rver';
/** The credentials of s3rver. */
const KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const QUIETLY = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];

let directory: string;
let service: Bun.Subprocess;
let endpoint: string;

beforeAll(async () => {
	directory = await mkdtemp(join(tmpdir(), 'tidemark-s3-'));
	await build(['npm', 'install', '--prefix', directory, ...QUIETLY, S3RVER], directory, NEEDS);
	const port = freePort();
	endpoint = `http://127.0.0.1:${port}`;
	const program = join(directory, 'node_modules', '.bin', 's3rver');
	const place = ['-a', '127.0.0.1', '-p', String(port), '-d', join(directory, 'objects')];
	service = Bun.spawn(['node', program, ...place, '--configure-bucket', 'files', '-s'], {
		stdio: ['ignore', 'ignore', 'ignore'],
	});
	await eventually(() => fetch(endpoint), 30_000);
}, 600_000);
afterAll(async () => {
	service?.kill();
	if (directory) await rm(directory, { recursive: true, force: true });
});

function freePort(): number {
	const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
	const { port } = server;
	void server.stop(true);
	return port ?? 0;
}

fileContract(
	'a bucket',
	() => new S3Bucket({ bucket: 'files', endpoint, region: 'us-east-1', ...KEYS, prefix: 'tests' }),
);

test('a server stores files in a bucket', async () => {
	const server = await startEmbedded({
		's3-bucket': 'files',
		's3-endpoint': endpoint,
		's3-access-key-id': KEYS.accessKeyId,
		's3-secret-access-key': KEYS.secretAccessKey,
	});
	try {
		const [ada] = (await makeWorkspace(server.url, 1)).people as [Person];
		const file = await shared(ada, 'digits.txt', '0123456789');
		expect(await (await download(file.url_private, ada)).text()).toBe('0123456789');
		const part = await download(file.url_private, ada, { range: 'bytes=2-4' });
		expect([part.status, await part.text()]).toEqual([206, '234']);
		await ada.call('files.delete', { file: file.id });
		expect((await download(file.url_private, ada)).status).toBe(404);
	} finally {
		await server.stop();
	}
});

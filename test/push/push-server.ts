import { type ServerProcess, tidemark, UNLIMITED, withDirectory } from '../support/process.ts';
import { ADMIN_TOKEN } from '../support/server.ts';
import { type FakeProviders, startProviders } from './fake-providers.ts';

/** `tidemark serve` that pushes to the fake providers, both in processes of their own. */

export interface PushScene {
	readonly providers: FakeProviders;
	readonly url: string;
	readonly server: () => ServerProcess;
	/** Kills the server with kill -9, and starts it again on the same data. */
	kill(): Promise<void>;
}

export interface SceneOptions {
	readonly flags?: readonly string[];
	/** Flags that replace those for the providers. */
	readonly providerFlags?: (providers: FakeProviders) => readonly string[];
}

export const withPush = (
	work: (scene: PushScene) => Promise<void>,
	options: SceneOptions = {},
): Promise<void> =>
	withDirectory(async (directory) => {
		const providers = await startProviders(directory);
		try {
			const start = (port: string) => serve(directory, port, providers, options);
			let server = await start('0');
			await work({
				providers,
				url: server.url,
				server: () => server,
				kill: async () => {
					await server.end('SIGKILL');
					server = await start(new URL(server.url).port);
				},
			});
			await server.end('SIGTERM');
		} finally {
			await providers.stop();
		}
	});

async function serve(
	directory: string,
	port: string,
	providers: FakeProviders,
	{ flags = [], providerFlags = (one) => one.flags }: SceneOptions,
): Promise<ServerProcess> {
	const server = tidemark(
		[
			...['serve', '--port', port, '--host', '127.0.0.1', '--data-dir', directory],
			...['--admin-token', ADMIN_TOKEN, ...UNLIMITED, '--push-delay-seconds', '1'],
			...providerFlags(providers),
			...flags,
		],
		{ TIDEMARK_LOG_LEVEL: 'error', ...providers.environment },
	);
	return { ...server, url: await server.printed(/(http:\/\/localhost:\d+)/) };
}

export const degradedOf = async ({ url }: PushScene): Promise<string[]> =>
	((await (await fetch(`${url}/readyz`)).json()) as { degraded: string[] }).degraded;

/** The log lines about unavailable providers. */
export const linesOfAbsence = (scene: PushScene): string[] =>
	scene
		.server()
		.err()
		.split('\n')
		.filter((line) => / is unavailable/.test(line));

/** Repeats the query until it gives the wanted result; fails with the last one. */
export async function until<T>(
	ask: () => Promise<T>,
	isSo: (found: T) => boolean,
	withinMs = 20_000,
): Promise<T> {
	const end = Date.now() + withinMs;
	for (;;) {
		const found = await ask();
		if (isSo(found) || Date.now() > end) return found;
		await Bun.sleep(20);
	}
}

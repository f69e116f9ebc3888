import { heapStats } from 'bun:jsc';
import pino from 'pino';
import { readConfig } from '../../src/app/config.ts';
import { serve } from '../../src/app/serve.ts';
import { linesOf } from '../support/lines.ts';
import { ADMIN_TOKEN, FLAGS } from '../support/server.ts';

/**
 * The server as `tidemark serve` composes it, in a process that reports its heap: for each input line, it collects
 * garbage and prints the number of live bytes and of sockets.
 */

if (import.meta.main) {
	const [dataDir = ''] = process.argv.slice(2);
	const flags = Object.fromEntries(FLAGS.map((flag) => flag.slice(2).split('=') as [string, string]));
	const place = { 'data-dir': dataDir, 'admin-token': ADMIN_TOKEN, host: '127.0.0.1', port: '0' };
	const running = await serve(readConfig({ ...flags, ...place }, {}), pino({ level: 'error' }));
	console.log(`port ${new URL(running.url).port}`);
	for await (const _line of linesOf(Bun.stdin.stream())) {
		for (let pass = 0; pass < 3; pass += 1) {
			Bun.gc(true);
			await Bun.sleep(100);
		}
		const { heapSize, objectTypeCounts } = heapStats();
		console.log(JSON.stringify({ alive: heapSize, sockets: objectTypeCounts.ServerWebSocket ?? 0 }));
	}
	process.exit(0);
}

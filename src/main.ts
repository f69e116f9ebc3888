import { run } from './app/cli.ts';

process.exitCode = await run(process.argv.slice(2));

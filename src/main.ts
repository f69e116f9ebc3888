import { run } from './app/cli.ts';

// Whatever is left open, by a start that failed half-way too, holds nothing up.
process.exit(await run(process.argv.slice(2)));

import { run } from './app/cli.ts';

// Exit explicitly: handles that a failed start left open must not keep the process alive.
process.exit(await run(process.argv.slice(2)));

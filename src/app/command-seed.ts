import { ADMINISTRATOR_SETTINGS, type CliCommand } from './command.ts';
import { adminClient, serverUrl } from './command-token.ts';
import { seedDemo, showDemo } from './demo.ts';

/** `tidemark seed`: a demo workspace in a running server. */

export const seedCommand: CliCommand = {
	summary: 'Create a demo workspace on a running server and print its users’ tokens.',
	usage: '[--url http://localhost:8080]',
	options: { url: { help: 'where the server is (http://localhost:<port>)', takesValue: true } },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const url = serverUrl(invocation);
		console.log(showDemo(url, await seedDemo(url, await adminClient(invocation))));
		return 0;
	},
};

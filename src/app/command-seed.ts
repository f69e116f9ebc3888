import { ADMINISTRATOR_SETTINGS, adminClient, serverUrl, URL_FLAG } from './admin-client.ts';
import type { CliCommand } from './command.ts';
import { seedDemo, showDemo } from './demo.ts';

/** `tidemark seed`: creates a demo workspace on a running server. */

export const seedCommand: CliCommand = {
	summary: 'Create a demo workspace on a running server and print its users’ tokens and sign-in links.',
	usage: '[--url http://localhost:8080]',
	options: { url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const url = serverUrl(invocation);
		console.log(showDemo(url, await seedDemo(url, await adminClient(invocation))));
		return 0;
	},
};

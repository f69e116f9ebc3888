import { ADMINISTRATOR_SETTINGS, type CliCommand } from './command.ts';
import { adminClient, neededFlag } from './command-token.ts';

/** `tidemark user deactivate` and `tidemark user reactivate`. */

interface Answered {
	readonly user: { readonly id: string; readonly name: string };
}

const userCommand = (method: string, summary: string, done: string): CliCommand => ({
	summary,
	usage: '--user U… [--url http://localhost:8080]',
	options: {
		user: { help: 'id of the user', takesValue: true },
		url: { help: 'where the server is (http://localhost:<port>)', takesValue: true },
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const user_id = neededFlag(invocation, 'user');
		const call = await adminClient(invocation);
		const { user } = await call<Answered>(method, { user_id });
		console.log(`${user.id} (${user.name}) ${done}`);
		return 0;
	},
});

export const userDeactivateCommand = userCommand(
	'admin.users.deactivate',
	'Deactivate a user: sign out everywhere, revoke all tokens, remove push devices. Messages stay.',
	'is deactivated and signed out',
);

export const userReactivateCommand = userCommand(
	'admin.users.reactivate',
	'Reactivate a deactivated user, who needs a new token.',
	'is active again; make a token with `tidemark token`',
);

import { ADMINISTRATOR_SETTINGS, adminClient, URL_FLAG } from './admin-client.ts';
import type { CliCommand } from './command.ts';

/** `tidemark push`: lists and retries the notifications that a running server stopped trying to send. */

interface Listed {
	readonly devices: number;
	readonly pending: number;
	readonly dead: number;
	readonly items: readonly {
		readonly device: string;
		readonly user: string;
		readonly channel: string;
		readonly ts: string;
		readonly attempts: number;
		readonly error: string;
	}[];
}

export const pushCommand: CliCommand = {
	summary: 'Show the notifications that a running server failed to send, or retry them.',
	usage: '[--replay] [--url http://localhost:8080]',
	options: {
		replay: { help: 'retry all of them', takesValue: false },
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const call = await adminClient(invocation);
		if (invocation.options.replay === 'true') {
			const { replayed } = await call<{ replayed: number }>('admin.push.replay', {});
			console.log(`retrying ${replayed} ${replayed === 1 ? 'notification' : 'notifications'}`);
			return 0;
		}
		const { devices, pending, dead, items } = await call<Listed>('admin.push.list', {});
		console.log(`${devices} devices, ${pending} notifications pending, ${dead} failed`);
		for (const { device, user, channel, ts, attempts, error } of items)
			console.log(`${channel} ${ts}  ${user} ${device}  after ${attempts} attempts: ${error}`);
		if (dead > items.length) console.log(`… and ${dead - items.length} older ones`);
		return 0;
	},
};

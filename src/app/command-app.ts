import { readFile } from 'node:fs/promises';
import { ADMINISTRATOR_SETTINGS, adminClient, TEAM_FLAG, URL_FLAG } from './admin-client.ts';
import { type CliCommand, type Invocation, neededFlag } from './command.ts';
import { ConfigError } from './config.ts';
import { listed, teamNamed } from './find-by-name.ts';
import { nextCommand } from './next-steps.ts';

/** `tidemark app …`: creates and changes apps of a running server from a Slack app manifest. */

const APP_FLAG = { help: 'id of the app', takesValue: true };
const MANIFEST_FLAG = { help: 'file with the manifest, JSON or YAML', takesValue: true };

interface ListedApp {
	readonly id: string;
	readonly name: string;
	readonly socket_mode: boolean;
	readonly connections: number;
	readonly commands: readonly { readonly command: string }[];
	readonly delivery: { readonly is_paused: boolean; readonly given_up: number; readonly last_error?: string };
}

function lineOf(invocation: Invocation, { id, name, socket_mode, connections, delivery }: ListedApp): string {
	const way = socket_mode ? `Socket Mode, ${connections} connected` : 'HTTP';
	const line = `${id}  ${name}  ${way}`;
	if (!delivery.is_paused) return line;
	const resume = nextCommand(invocation, `app resume --app ${id}`);
	return `${line}  PAUSED: ${delivery.last_error ?? 'events failed'}. When the app works again: ${resume}`;
}

/** The part of the answers to `admin.apps.create` and `.update` that says whether the request URL works. */
interface CheckedUrl {
	readonly request_url?: { readonly verified: boolean; readonly problem?: string };
}

/** On standard error: standard output has only what was created. */
function warnOfUnverified({ request_url }: CheckedUrl): void {
	if (request_url && !request_url.verified)
		console.error(
			`The request URL could not be verified: ${request_url.problem ?? 'no reason given'}. Events are sent to it anyway; correct it with \`tidemark app update\`.`,
		);
}

async function manifestOf(invocation: Invocation): Promise<string> {
	const file = neededFlag(invocation, 'manifest');
	return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
		throw new ConfigError([
			`--manifest ${file} cannot be read (${error.code}): give the path of a JSON or YAML file`,
		]);
	});
}

export const appCreateCommand: CliCommand = {
	summary: 'Create an app from a Slack app manifest and print its tokens and signing secret, once.',
	usage: '--manifest manifest.yaml [--team NAME] [--url http://localhost:8080]',
	options: {
		team: TEAM_FLAG,
		manifest: MANIFEST_FLAG,
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const manifest = await manifestOf(invocation);
		const call = await adminClient(invocation);
		const { id: team_id } = await teamNamed(call, invocation.options.team);
		const answer = await call<
			CheckedUrl & {
				app: ListedApp & { readonly bot: { readonly user_id: string } };
				credentials: { signing_secret: string; bot_token: string; app_token: string };
			}
		>('admin.apps.create', { team_id, manifest });
		const { app, credentials } = answer;
		console.log(`APP_ID=${app.id}`);
		console.log(`BOT_USER_ID=${app.bot.user_id}`);
		console.log(`SLACK_BOT_TOKEN=${credentials.bot_token}`);
		console.log(`SLACK_APP_TOKEN=${credentials.app_token}`);
		console.log(`SLACK_SIGNING_SECRET=${credentials.signing_secret}`);
		warnOfUnverified(answer);
		return 0;
	},
};

export const appUpdateCommand: CliCommand = {
	summary: 'Replace the manifest of an app.',
	usage: '--app A… --manifest manifest.yaml [--url http://localhost:8080]',
	options: { app: APP_FLAG, manifest: MANIFEST_FLAG, url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const app_id = neededFlag(invocation, 'app');
		const manifest = await manifestOf(invocation);
		const call = await adminClient(invocation);
		const answer = await call<CheckedUrl & { app: ListedApp }>('admin.apps.update', { app_id, manifest });
		console.log(lineOf(invocation, answer.app));
		warnOfUnverified(answer);
		return 0;
	},
};

export const appListCommand: CliCommand = {
	summary: 'List the apps of a workspace.',
	usage: '[--team NAME] [--url http://localhost:8080]',
	options: { team: TEAM_FLAG, url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const call = await adminClient(invocation);
		const { id: team_id, name } = await teamNamed(call, invocation.options.team);
		let count = 0;
		for await (const app of listed<ListedApp>(call, 'admin.apps.list', 'apps', { team_id })) {
			count += 1;
			console.log(lineOf(invocation, app));
		}
		if (count === 0) console.log(`${name} has no apps.`);
		return 0;
	},
};

export const appInfoCommand: CliCommand = {
	summary:
		'Show an app: its subscriptions, whether it is connected, and how many events the server gave up on.',
	usage: '--app A… [--url http://localhost:8080]',
	options: { app: APP_FLAG, url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const call = await adminClient(invocation);
		const { app } = await call<{ app: ListedApp }>('admin.apps.info', {
			app_id: neededFlag(invocation, 'app'),
		});
		console.log(JSON.stringify(app, null, 2));
		return 0;
	},
};

export const appWebhookCommand: CliCommand = {
	summary: 'Create an incoming webhook of an app and print its address, once.',
	usage: '--app A… --channel C… [--url http://localhost:8080]',
	options: {
		app: APP_FLAG,
		channel: { help: 'id of the conversation to post to', takesValue: true },
		url: URL_FLAG,
	},
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const app_id = neededFlag(invocation, 'app');
		const channel = neededFlag(invocation, 'channel');
		const call = await adminClient(invocation);
		const { webhook } = await call<{ webhook: { url: string } }>('admin.apps.webhooks.create', {
			app_id,
			channel,
		});
		console.log(webhook.url);
		return 0;
	},
};

const plainCommand = (method: string, summary: string, done: string): CliCommand => ({
	summary,
	usage: '--app A… [--url http://localhost:8080]',
	options: { app: APP_FLAG, url: URL_FLAG },
	...ADMINISTRATOR_SETTINGS,
	run: async (invocation) => {
		const app_id = neededFlag(invocation, 'app');
		const call = await adminClient(invocation);
		await call(method, { app_id });
		console.log(`${app_id} ${done}`);
		return 0;
	},
});

export const appDeleteCommand = plainCommand(
	'admin.apps.delete',
	'Delete an app: revoke its tokens, remove its webhooks and deactivate its bot. Messages stay.',
	'is deleted',
);
export const appResumeCommand = plainCommand(
	'admin.apps.resume',
	'Resume the delivery of events to an app that was paused.',
	'is resumed',
);

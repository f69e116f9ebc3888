/**
 * A Slack app manifest, and the settings that Tidemark reads from it. The manifest is stored as it was sent, so that it can be
 * exported and edited; only `settingsOf` reads it.
 */

export interface SlashCommand {
	readonly command: string;
	readonly description: string;
	readonly usageHint: string;
	/** Where invocations are sent without Socket Mode; empty: to the interactivity URL. */
	readonly url: string;
	/** Whether names in the text are sent as `<@U…|name>` and `<#C…|name>`. */
	readonly shouldEscape: boolean;
}

export interface Shortcut {
	readonly name: string;
	readonly type: 'global' | 'message';
	readonly callbackId: string;
	readonly description: string;
}

export interface AppSettings {
	readonly name: string;
	readonly description: string;
	readonly botName: string;
	readonly botScopes: readonly string[];
	/** Events that the app subscribes to as its bot, by Slack's names. */
	readonly botEvents: readonly string[];
	readonly socketMode: boolean;
	/** Where events are sent without Socket Mode; empty: they are not sent. */
	readonly requestUrl: string;
	/** Where interactions are sent without Socket Mode. */
	readonly interactivityUrl: string;
	readonly interactive: boolean;
	/** Where options of external selects are requested without Socket Mode. */
	readonly optionsUrl: string;
	readonly commands: readonly SlashCommand[];
	readonly shortcuts: readonly Shortcut[];
	readonly homeTab: boolean;
}

/** A problem with a manifest, in Slack's form: `pointer` is a JSON pointer. */
export interface ManifestProblem {
	readonly pointer: string;
	readonly message: string;
}

type Found = Readonly<Record<string, unknown>>;

const NAME_LENGTH = 35;
const MAX_COMMANDS = 50;
const MAX_SHORTCUTS = 10;
const COMMAND = /^\/[a-z0-9_-]{1,31}$/;

const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is Found =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

const part = (value: unknown, name: string): Found => {
	const found = isObject(value) ? value[name] : undefined;
	return isObject(found) ? found : {};
};
const text = (value: unknown): string => (isText(value) ? value : '');
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter(isText) : []);
const objects = (value: unknown): Found[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Missing and malformed fields become empty; `problemsOf` reports those that make the manifest invalid. */
export function settingsOf(manifest: Found): AppSettings {
	const display = part(manifest, 'display_information');
	const features = part(manifest, 'features');
	const settings = part(manifest, 'settings');
	const interactivity = part(settings, 'interactivity');
	const events = part(settings, 'event_subscriptions');
	const name = text(display.name).trim();
	return {
		name,
		description: text(display.description),
		botName: text(part(features, 'bot_user').display_name).trim() || name,
		botScopes: texts(part(part(manifest, 'oauth_config'), 'scopes').bot),
		botEvents: [...new Set(texts(events.bot_events))],
		socketMode: settings.socket_mode_enabled === true,
		requestUrl: text(events.request_url),
		interactive: interactivity.is_enabled === true,
		interactivityUrl: text(interactivity.request_url),
		optionsUrl: text(interactivity.message_menu_options_url),
		commands: objects(features.slash_commands).map(commandOf),
		shortcuts: objects(features.shortcuts).map(shortcutOf),
		homeTab: part(features, 'app_home').home_tab_enabled === true,
	};
}

const commandOf = (found: Found): SlashCommand => ({
	command: text(found.command),
	description: text(found.description),
	usageHint: text(found.usage_hint),
	url: text(found.url),
	shouldEscape: found.should_escape === true,
});

const shortcutOf = (found: Found): Shortcut => ({
	name: text(found.name),
	type: found.type === 'message' ? 'message' : 'global',
	callbackId: text(found.callback_id),
	description: text(found.description),
});

/** Empty: the manifest is valid. Unknown fields are ignored. */
export function problemsOf(manifest: unknown): readonly ManifestProblem[] {
	if (!isObject(manifest)) return [{ pointer: '/', message: 'the manifest is not an object' }];
	const problems: ManifestProblem[] = [];
	const wrong = (pointer: string, message: string): void => void problems.push({ pointer, message });
	for (const [pointer, isItem, items] of LISTS)
		if (!isListOf(isItem, valueAt(manifest, pointer))) wrong(pointer, `must be a list of ${items}`);
	const settings = settingsOf(manifest);
	if (settings.name === '' || settings.name.length > NAME_LENGTH)
		wrong('/display_information/name', `must have 1 to ${NAME_LENGTH} characters`);
	if (settings.botName.length > 80)
		wrong('/features/bot_user/display_name', 'must have at most 80 characters');
	if (settings.commands.length > MAX_COMMANDS)
		wrong('/features/slash_commands', `has more than ${MAX_COMMANDS} commands`);
	for (const [index, { command, url }] of settings.commands.entries()) {
		const at = `/features/slash_commands/${index}`;
		if (!COMMAND.test(command))
			wrong(`${at}/command`, 'must be / followed by 1 to 31 lower-case letters, digits, - and _');
		checkUrl(`${at}/url`, url, wrong);
	}
	if (new Set(settings.commands.map(({ command }) => command)).size < settings.commands.length)
		wrong('/features/slash_commands', 'has the same command twice');
	if (settings.shortcuts.length > MAX_SHORTCUTS)
		wrong('/features/shortcuts', `has more than ${MAX_SHORTCUTS} shortcuts`);
	for (const [index, { name, callbackId }] of settings.shortcuts.entries())
		if (name === '' || callbackId === '')
			wrong(`/features/shortcuts/${index}`, 'must have a name and a callback_id');
	checkUrl('/settings/event_subscriptions/request_url', settings.requestUrl, wrong);
	checkUrl('/settings/interactivity/request_url', settings.interactivityUrl, wrong);
	checkUrl('/settings/interactivity/message_menu_options_url', settings.optionsUrl, wrong);
	return problems;
}

/** The optional lists of a manifest. */
const LISTS = [
	['/oauth_config/scopes/bot', isText, 'strings'],
	['/settings/event_subscriptions/bot_events', isText, 'strings'],
	['/features/slash_commands', isObject, 'objects'],
	['/features/shortcuts', isObject, 'objects'],
] as const;

const valueAt = (manifest: Found, pointer: string): unknown =>
	pointer
		.slice(1)
		.split('/')
		.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), manifest);

const isListOf = (isItem: (value: unknown) => boolean, value: unknown): boolean =>
	value === undefined || value === null || (Array.isArray(value) && value.every(isItem));

function checkUrl(pointer: string, url: string, wrong: (pointer: string, message: string) => void): void {
	const isHttp = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
	if (url !== '' && !isHttp) wrong(pointer, 'must be an http or https address');
}

import { clusterSettings } from './settings/cluster.ts';
import { fileSettings } from './settings/files.ts';
import { limitSettings } from './settings/limits.ts';
import { pushSettings } from './settings/push.ts';
import { serverSettings } from './settings/server.ts';
import { oneOf, type Setting, setting, wholeNumber } from './settings/setting.ts';

/**
 * The schema of the configuration: every setting with its environment variable, flag, unit and default. Help texts, checks
 * and the settings in the log are derived from it. The files in settings/ hold its parts by subject.
 */
export const SETTINGS = {
	...serverSettings,
	...fileSettings,
	...clusterSettings,
	...limitSettings,
	...pushSettings,
	appPrivateAddresses: setting(
		'app-private-addresses',
		'allow private addresses (10.0.0.0/8, 127.0.0.1 and the like) in URLs of apps: on or off; link-local addresses are never allowed',
		'on' as 'on' | 'off',
		oneOf('on', 'off'),
	),
	appRetrySeconds: setting(
		'app-retry-seconds',
		'how long the server retries an event for an app; it pauses an HTTP app whose deliveries have all failed for this long',
		3_600,
		wholeNumber(1, 86_400),
	),
	logLevel: setting(
		'log-level',
		'lowest level to log: debug, info, warn or error',
		'info' as const,
		oneOf('debug', 'info', 'warn', 'error'),
	),
	logFormat: setting(
		'log-format',
		'log format: text, json, or auto (text on a terminal, json elsewhere)',
		'auto' as const,
		oneOf('auto', 'text', 'json'),
	),
} as const satisfies Record<string, Setting<never> | object>;

export type SettingName = keyof typeof SETTINGS;

/** Required with the APNs key, and without effect if there is no key. */
export const APNS_KEY_SETTINGS = [
	'apnsKeyId',
	'apnsTeamId',
	'apnsTopic',
] as const satisfies readonly SettingName[];

import type { Logger } from 'pino';
import type { PresenceStore } from '../engine/ports/presence.ts';
import type { Store } from '../engine/ports/store.ts';
import { newId } from '../model/ids.ts';
import { ApnsProvider } from '../push/apns/provider.ts';
import { FcmProvider } from '../push/fcm/provider.ts';
import { Pusher } from '../push/pusher.ts';
import { WebPushProvider } from '../push/web/provider.ts';
import type { VapidKey } from '../push/web/vapid.ts';
import type { ReadState } from '../unread/read-state.ts';
import { type Config, ConfigError, missingSettings } from './config.ts';
import type { ServerOperations } from './operations.ts';
import { nowMs, random } from './runtime.ts';
import { APNS_KEY_SETTINGS, SETTINGS } from './settings.ts';

/** The composition of push: providers from the settings, and the loops that send. */

/** Whether any provider is configured. If none is, posts and marks write no push records. */
export const isPushConfigured = ({ apnsKeyFile, fcmServiceAccountFile }: Config, web: boolean): boolean =>
	web || apnsKeyFile !== null || fcmServiceAccountFile !== null;

export interface PushParts {
	readonly config: Config;
	/** Null: no Web Push. */
	readonly vapidKey: VapidKey | null;
	readonly store: Pick<Store, 'push' | 'history' | 'directory'>;
	readonly readState: ReadState;
	readonly presence: Pick<PresenceStore, 'activeAmong'>;
	readonly operations: ServerOperations;
	readonly log: Logger;
}

/** Null: no provider is configured. */
export async function startPush(parts: PushParts): Promise<Pusher | null> {
	const { config, vapidKey, store, readState, presence, operations } = parts;
	const providers = { ...apnsOf(config), ...fcmOf(config), ...webOf(config, vapidKey) };
	if (!isPushConfigured(config, vapidKey !== null)) return null;
	const pusher = new Pusher({
		push: store.push,
		history: store.history,
		directory: store.directory,
		readState,
		presence,
		providers,
		watch: operations,
		delayMs: config.pushDelaySeconds * 1000,
		nowMs,
		random: Math.random,
		newLease: () => newId('L', random),
		report: (error) => operations.failed('push', error),
	});
	watch(pusher, operations);
	await pusher.start();
	return pusher;
}

function apnsOf(config: Config) {
	const { apnsKeyFile, apnsKeyId, apnsTeamId, apnsTopic, apnsHost } = config;
	if (apnsKeyFile === null) {
		const alone = APNS_KEY_SETTINGS.find((name) => config[name] !== null);
		if (alone) {
			const { environment } = SETTINGS[alone];
			throw new ConfigError([
				`TIDEMARK_APNS_KEY_FILE is missing: ${environment} has no effect without the key`,
			]);
		}
		return {};
	}
	if (apnsKeyId === null || apnsTeamId === null || apnsTopic === null)
		throw new ConfigError(
			missingSettings(config, APNS_KEY_SETTINGS).map(
				(name) => `${name} is missing: APNs needs it in addition to the key`,
			),
		);
	return {
		apns: new ApnsProvider({
			keyFile: apnsKeyFile,
			keyId: apnsKeyId,
			teamId: apnsTeamId,
			topic: apnsTopic,
			url: apnsHost,
			nowMs,
		}),
	};
}

function fcmOf({ fcmServiceAccountFile, fcmHost }: Config) {
	if (fcmServiceAccountFile === null) return {};
	return { fcm: new FcmProvider({ serviceAccountFile: fcmServiceAccountFile, url: fcmHost, nowMs }) };
}

function webOf({ vapidContact, webPushHosts }: Config, key: VapidKey | null) {
	if (key === null) return {};
	return { web: new WebPushProvider({ key, contact: vapidContact, hosts: webPushHosts, nowMs }) };
}

function watch(pusher: Pusher, operations: ServerOperations): void {
	const { meters } = pusher;
	operations.counter('push_sent_total', 'Notifications that push services accepted', () => meters.sent);
	operations.counter(
		'push_withdrawn_total',
		'Notifications withdrawn, for example because the user read the message',
		() => meters.withdrawn,
	);
	operations.counter(
		'push_retried_total',
		'Notifications postponed, because the attempt failed or the provider is paused',
		() => meters.retried,
	);
	operations.counter('push_failed_total', 'Notifications that the server gave up on', () => meters.dead);
	operations.counter(
		'push_devices_removed_total',
		'Devices removed because their push service no longer knows them',
		() => meters.removed,
	);
	operations.gauge(
		'push_pending',
		'Notifications waiting to be sent; updated every minute',
		() => pusher.sizes.pending,
	);
	operations.gauge(
		'push_dead_letters',
		'Notifications abandoned and kept for `tidemark push`; updated every minute',
		() => pusher.sizes.dead,
	);
}

import { KNOWN_HOSTS } from '../../push/web/allowed-hosts.ts';
import { type VapidKey, vapidKeyOf } from '../../push/web/vapid.ts';
import { address, contact, hostPatterns, oneOf, setting, text, wholeNumber } from './setting.ts';

/** Settings of notifications: APNs, FCM and Web Push. */
export const pushSettings = {
	pushDelaySeconds: setting(
		'push-delay-seconds',
		'delay before a device is notified while the user is active on another one',
		15,
		wholeNumber(0, 3_600),
	),
	apnsKeyFile: setting(
		'apns-key-file',
		'APNs key file (AuthKey_….p8); enables push to Apple’s devices',
		null as string | null,
		text,
	),
	apnsKeyId: setting('apns-key-id', 'id of the APNs key', null as string | null, text),
	apnsTeamId: setting('apns-team-id', 'team id of the Apple developer account', null as string | null, text),
	apnsTopic: setting(
		'apns-topic',
		'bundle id of the application; a device can register with another one',
		null as string | null,
		text,
	),
	apnsHost: setting('apns-host', 'address of APNs', 'https://api.push.apple.com', address('https')),
	fcmServiceAccountFile: setting(
		'fcm-service-account-file',
		'FCM service account file (JSON); enables push to Android and browsers',
		null as string | null,
		text,
	),
	fcmHost: setting('fcm-host', 'address of FCM', 'https://fcm.googleapis.com', address('https')),
	webPush: setting(
		'web-push',
		'Web Push to browsers: on or off; a cluster also needs vapid-private-key',
		'on' as const,
		oneOf('on', 'off'),
	),
	vapidPrivateKey: setting(
		'vapid-private-key',
		{
			help: 'private key of Web Push (npx web-push generate-vapid-keys creates one); if not set, `serve` generates one and saves it in the data directory',
			helpFor: {
				cluster:
					'private key of Web Push (npx web-push generate-vapid-keys creates one), the same on all gateways and workers; if not set, Web Push is disabled',
			},
		},
		null as VapidKey | null,
		vapidKeyOf,
		true,
	),
	vapidContact: setting(
		'vapid-contact',
		'contact for the operators of push services: mailto:… or https://…',
		'mailto:operator@example.com',
		contact,
	),
	webPushHosts: setting(
		'web-push-hosts',
		'hosts of push services that the server may call, separated by commas',
		KNOWN_HOSTS,
		hostPatterns,
	),
} as const;

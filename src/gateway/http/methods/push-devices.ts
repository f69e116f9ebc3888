import type { Device, PushPlatform } from '../../../engine/ports/push.ts';
import { Rejection } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import { isAllowed } from '../../../push/web/allowed-hosts.ts';
import { deviceTokenOf, hostOf, readSubscription, subscriptionOf } from '../../../push/web/subscription.ts';
import type { WebPush } from '../../services.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { userMethod } from '../method.ts';

/** The phones and browsers on which a user receives notifications. */

const PLATFORMS = ['apns', 'fcm', 'web'] as const satisfies readonly PushPlatform[];
const MAX_DEVICES = 20;
const token = type.text({ max: 4_096, takesEmpty: false });
/**
 * APNs tokens are 64 hex digits today, may grow, and are part of a path; FCM tokens have about 160 characters;
 * browser subscriptions are JSON, which `subscription.ts` checks.
 */
const TOKENS: Readonly<Record<PushPlatform, RegExp>> = {
	apns: /^[A-Za-z0-9_-]{1,512}$/,
	fcm: /^[\x21-\x7e]+$/,
	web: /^/,
};
/** A bundle id in Apple's format; it is sent in a header. */
const app = optional(
	type.matching(/^[A-Za-z0-9.-]{1,255}$/, 'a bundle id: letters, digits, dots and hyphens'),
);

export const pushDevicesAdd = userMethod({
	arguments: { platform: type.oneOf(PLATFORMS), token, app },
	run: async (args, { services, caller }) => {
		const { random, clock } = services;
		const { devices } = services.push;
		const user = caller.user.id;
		const token = storedToken(args);
		if (!TOKENS[args.platform].test(token))
			throw new Rejection('invalid_arguments', `token: not a valid device token for ${args.platform}`);
		if (args.platform === 'web') checkHost(token, webPushOf(services.webPush));
		const others = (await devices.ofUser(user)).filter((one) => one.token !== token);
		if (others.length >= MAX_DEVICES) throw new Rejection('too_many_devices');
		await devices.add({
			id: newId('P', random),
			user,
			platform: args.platform,
			token,
			app: args.app ?? '',
			addedTs: clock.next(),
		});
		// If the user was deactivated meanwhile, the deactivation did not remove this device, which was added later: remove it here.
		const [account] = await services.directory.users([user]);
		if (account?.deleted) await devices.remove(user, args.platform, token);
		return {};
	},
});

export const pushDevicesRemove = userMethod({
	arguments: { platform: type.oneOf(PLATFORMS), token },
	run: async (args, { services, caller }) => {
		const token = storedToken(args);
		const removed = await services.push.devices.remove(caller.user.id, args.platform, token);
		if (!removed) throw new Rejection('device_not_found');
		return {};
	},
});

export const pushDevicesList = userMethod({
	arguments: {},
	run: async (_, { services, caller }) => ({
		devices: (await services.push.devices.ofUser(caller.user.id)).map(wireDevice),
	}),
});

export const pushWebKey = userMethod({
	arguments: {},
	run: async (_, { services }) => ({ key: webPushOf(services.webPush).key }),
});

/** The stored form of a token: subscriptions of browsers are normalised. */
function storedToken({ platform, token }: { platform: PushPlatform; token: string }): string {
	if (platform !== 'web') return token;
	try {
		return deviceTokenOf(readSubscription(token));
	} catch (error) {
		throw new Rejection('invalid_arguments', `token: ${(error as Error).message}`);
	}
}

/** Rejects subscriptions at push services that this server may not call. */
function checkHost(token: string, { hosts }: WebPush): void {
	if (!isAllowed(hostOf(subscriptionOf(token)), hosts))
		throw new Rejection(
			'invalid_arguments',
			'token: TIDEMARK_WEB_PUSH_HOSTS does not allow the push service of its endpoint',
		);
}

function webPushOf(web: WebPush | null): WebPush {
	if (web === null) throw new Rejection('web_push_off');
	return web;
}

const wireDevice = ({ id, platform, token, app, addedTs }: Device) => ({
	id,
	platform,
	token,
	app,
	date_added: Math.floor(addedTs / 1e6),
});

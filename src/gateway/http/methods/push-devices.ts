import type { Device, PushPlatform } from '../../../engine/ports/push.ts';
import { Refusal } from '../../../model/errors.ts';
import { newId } from '../../../model/ids.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { userMethod } from '../method.ts';

/** The phones and browsers that somebody wants to be told on. */

const PLATFORMS = ['apns', 'fcm'] as const satisfies readonly PushPlatform[];
const MOST_DEVICES = 20;
/** Tokens of APNs are 64 hex digits today and may grow; those of FCM are some 160 characters. */
const token = type.text({ max: 4_096, takesEmpty: false });
const app = optional(type.text({ max: 255 }));

export const pushDevicesAdd = userMethod({
	arguments: { platform: type.oneOf(PLATFORMS), token, app },
	run: async (args, { services, caller }) => {
		const { random, clock } = services;
		const { devices } = services.push;
		const user = caller.user.id;
		const others = (await devices.ofUser(user)).filter((one) => one.token !== args.token);
		if (others.length >= MOST_DEVICES) throw new Refusal('too_many_devices');
		await devices.add({
			id: newId('P', random),
			user,
			platform: args.platform,
			token: args.token,
			app: args.app ?? '',
			addedTs: clock.last(),
		});
		return {};
	},
});

export const pushDevicesRemove = userMethod({
	arguments: { platform: type.oneOf(PLATFORMS), token },
	run: async (args, { services, caller }) => {
		const removed = await services.push.devices.remove(caller.user.id, args.platform, args.token);
		if (!removed) throw new Refusal('device_not_found');
		return {};
	},
});

export const pushDevicesList = userMethod({
	arguments: {},
	run: async (_, { services, caller }) => ({
		devices: (await services.push.devices.ofUser(caller.user.id)).map(wireDevice),
	}),
});

const wireDevice = ({ id, platform, token, app, addedTs }: Device) => ({
	id,
	platform,
	token,
	app,
	date_added: Math.floor(addedTs / 1e6),
});

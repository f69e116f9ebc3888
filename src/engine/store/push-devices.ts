import type { Device, PushDevices, PushPlatform } from '../ports/push.ts';
import type { SqlReader } from './sql.ts';
import { type BoundWrite, deleteFrom, erasing, insertInto } from './write-sql.ts';

/** SQL of devices. A token has one row, so it belongs to the user who added it last. */

/** For another user the device gets a new id, so that notifications queued for the previous user do not reach it. */
const ADD = insertInto(
	'push_devices',
	{ platform: 1, token: 2, id: 3, user_id: 4, app: 5, badge: '0', added_ts: 6 },
	{
		on: ['platform', 'token'],
		update: `id = CASE WHEN push_devices.user_id = excluded.user_id THEN push_devices.id ELSE excluded.id END,
		badge = CASE WHEN push_devices.user_id = excluded.user_id THEN push_devices.badge ELSE 0 END,
		added_ts = CASE WHEN push_devices.user_id = excluded.user_id THEN push_devices.added_ts
			ELSE excluded.added_ts END,
		user_id = excluded.user_id, app = excluded.app`,
	},
);
const REMOVE = erasing(deleteFrom('push_devices', { platform: 1, token: 2, user_id: 3 }));
export const DEVICE_COLUMNS = 'd.id, d.user_id, d.platform, d.token, d.app, d.badge, d.added_ts';
const OF_USER = `SELECT ${DEVICE_COLUMNS} FROM push_devices d WHERE d.user_id = $1 ORDER BY d.added_ts, d.id`;

export interface DeviceRow {
	readonly id: string;
	readonly user_id: string;
	readonly platform: PushPlatform;
	readonly token: string;
	readonly app: string;
	readonly badge: number;
	readonly added_ts: number;
}

export const deviceOf = (row: DeviceRow): Device => ({
	id: row.id,
	user: row.user_id,
	platform: row.platform,
	token: row.token,
	app: row.app,
	badge: row.badge,
	addedTs: row.added_ts,
});

export function devicesOn(
	reader: SqlReader,
	execute: (writes: readonly BoundWrite[]) => Promise<void>,
): PushDevices {
	const ofUser = async (user: string): Promise<readonly Device[]> =>
		(await reader.all<DeviceRow>(OF_USER, [user])).map(deviceOf);
	return {
		add: ({ platform, token, id, user, app, addedTs }) =>
			execute([{ write: ADD, params: [platform, token, id, user, app, addedTs] }]),
		remove: async (user, platform, token) => {
			const known = (await ofUser(user)).some((one) => one.platform === platform && one.token === token);
			if (known) await execute([{ write: REMOVE, params: [platform, token, user] }]);
			return known;
		},
		ofUser,
	};
}

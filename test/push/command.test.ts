import { expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { tidemark } from '../support/process.ts';
import { ADMIN_TOKEN } from '../support/server.ts';
import { until, withPush } from './push-server.ts';

/** `tidemark push`: lists dead letters and replays them. */

test('lists dead letters without device tokens, and replays them', () =>
	withPush(async (scene) => {
		const { people, admin } = await makeWorkspace(scene.url, 2);
		const [anna, ben] = people as [Person, Person];
		await anna.call('push.devices.add', { platform: 'apns', token: 'topic-secret' });
		const { channel } = await ben.call('conversations.open', { users: anna.id });
		const { ts } = await ben.call('chat.postMessage', { channel: channel.id, text: 'hi' });
		await until(
			() => admin('admin.push.list'),
			({ dead }) => dead === 1,
		);
		const push = (...flags: string[]) =>
			tidemark(['push', '--url', scene.url, ...flags], { TIDEMARK_ADMIN_TOKEN: ADMIN_TOKEN }).ended;
		const listed = await push();
		expect(listed).toMatchObject({ code: 0, err: '' });
		expect(listed.out).toStartWith('1 devices, 0 notifications pending, 1 failed\n');
		expect(listed.out).toContain(`${channel.id} ${ts}  ${anna.id} P`);
		expect(listed.out).toContain('after 1 attempts: 400 DeviceTokenNotForTopic');
		expect(listed.out).not.toContain('topic-secret');
		expect((await push('--replay')).out).toBe('retrying 1 notification\n');
	}));

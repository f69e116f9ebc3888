import { expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { RawClient } from '../support/raw-client.ts';
import { connect, socketUrl } from '../support/socket.ts';
import { type PushScene, until, withPush } from './push-server.ts';

/** From a message to a phone and back, against local servers that speak the providers' protocols. */

const device = (person: Person, platform: 'apns' | 'fcm' = 'apns', token = `token-${person.name}`) =>
	person.call('push.devices.add', { platform, token }).then(() => token);

const shownOn = async ({ providers }: PushScene, token: string) =>
	Object.values((await providers.phone(token)).shown);

async function dm(from: Person, to: Person): Promise<string> {
	return (await from.call('conversations.open', { users: to.id })).channel.id;
}

async function channelOf(owner: Person, ...others: readonly Person[]): Promise<string> {
	const { channel } = await owner.call('conversations.create', {
		name: `c-${crypto.randomUUID().slice(0, 8)}`,
	});
	await owner.call('conversations.invite', { channel: channel.id, users: others.map(({ id }) => id).join() });
	return channel.id;
}

test.each(['apns', 'fcm'] as const)('a direct message that is read elsewhere is withdrawn (%s)', (platform) =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 2);
		const [anna, ben] = people as [Person, Person];
		const phone = await device(anna, platform);
		const tablet = await device(anna, platform, 'the-tablet');
		const channel = await dm(ben, anna);
		const { ts } = await ben.call('chat.postMessage', { channel, text: `hello <@${anna.id}> &amp; all` });
		for (const token of [phone, tablet]) {
			const found = await until(
				() => scene.providers.phone(token),
				({ received }) => received === 1,
			);
			expect(found.badge).toBe((await anna.call('client.counts')).badge);
			expect(Object.values(found.shown)).toEqual([{ title: 'person-1', body: 'hello @person-0 & all' }]);
		}
		const markedAt = Date.now();
		await anna.call('conversations.mark', { channel, ts });
		for (const token of [phone, tablet]) {
			const after = await until(
				() => scene.providers.phone(token),
				({ withdrawn }) => withdrawn === 1,
			);
			expect(after).toMatchObject({ shown: {}, badge: 0, withdrawn: 1 });
			expect((after.updates[0]?.at ?? 0) - markedAt).toBeLessThan(2_000);
		}
		expect(await scene.providers.counts()).toMatchObject({ sent: 2, doubled: 0, showing: 0, connections: 1 });
	}),
);

test('named users, all of a channel, and followers of a thread are notified; the author and muted users are not', () =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 4);
		const [anna, ben, cleo, dan] = people as [Person, Person, Person, Person];
		const tokens = await Promise.all(people.map((person) => device(person)));
		const channel = await channelOf(anna, ben, cleo, dan);
		const level = (person: Person, to: string) =>
			person.call('conversations.setNotifications', { channel, level: to });
		await Promise.all([level(ben, 'mentions'), level(cleo, 'mentions')]);
		await dan.call('conversations.mute', { channel });
		const post = async (from: Person, text: string, more = {}) =>
			(await from.call('chat.postMessage', { channel, text, ...more })).ts as string;

		const root = await post(anna, 'plain');
		await post(anna, `by name <@${ben.id}> <@${dan.id}>`);
		await post(anna, 'to all <!channel>');
		await post(cleo, 'a reply', { thread_ts: root });
		const bodies = async () =>
			Promise.all(tokens.map(async (token) => (await shownOn(scene, token)).map(({ body }) => body).sort()));
		const expected = [
			['a reply'],
			['by name @person-1 @person-3', 'to all @channel'],
			['to all @channel'],
			['by name @person-1 @person-3'],
		];
		const found = await until(bodies, (now) => Bun.deepEquals(now, expected));
		expect(found).toEqual(expected);
		// Nothing more arrives: every message of the outbox was processed.
		const { admin } = await makeWorkspace(scene.url, 0, 'Others');
		await until(
			() => admin('admin.push.list'),
			({ pending }) => pending === 0,
		);
		expect((await scene.providers.counts()).sent).toBe(5);
	}));

test('a user who snoozed notifications gets none; later messages notify again', () =>
	withPush(async (scene) => {
		const { people, admin } = await makeWorkspace(scene.url, 3);
		const [anna, ben, cleo] = people as [Person, Person, Person];
		const [snoozed, other] = await Promise.all([device(anna), device(cleo)]);
		const channel = await channelOf(ben, anna, cleo);
		await anna.call('dnd.setSnooze', { num_minutes: 5 });
		const post = (text: string) => ben.call('chat.postMessage', { channel, text });
		await post('during <!channel>');
		await until(
			() => scene.providers.phone(other),
			({ received }) => received === 1,
		);
		await until(
			() => admin('admin.push.list'),
			({ pending }) => pending === 0,
		);
		expect(await shownOn(scene, snoozed)).toEqual([]);
		// The message counts anyway.
		expect((await anna.call('client.counts')).badge).toBe(1);
		await anna.call('dnd.endSnooze');
		await post('after <!channel>');
		const found = await until(
			() => shownOn(scene, snoozed),
			(shown) => shown.length > 0,
		);
		expect(found.map(({ body }) => body)).toEqual(['after @channel']);
	}));

test('a snooze also stops notifications that are already queued', () =>
	withPush(
		async (scene) => {
			const { people, admin } = await makeWorkspace(scene.url, 3);
			const [anna, ben, cleo] = people as [Person, Person, Person];
			const [snoozed, other] = await Promise.all([device(anna), device(cleo)]);
			const channel = await channelOf(ben, anna, cleo);
			const sockets = await Promise.all([connect(anna), connect(cleo)]);
			await ben.call('chat.postMessage', { channel, text: 'before <!channel>' });
			const queued = await until(
				() => admin('admin.push.list'),
				({ pending }) => pending === 2,
			);
			expect(queued.pending).toBe(2);
			await anna.call('dnd.setSnooze', { num_minutes: 5 });
			await until(
				() => scene.providers.phone(other),
				({ received }) => received === 1,
			);
			await until(
				() => admin('admin.push.list'),
				({ pending }) => pending === 0,
			);
			expect((await scene.providers.phone(snoozed)).received).toBe(0);
			for (const socket of sockets) socket.close();
		},
		{ flags: ['--push-delay-seconds', '4'] },
	));

test('a user who is active elsewhere is notified after the delay, unless the message was read meanwhile', () =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 3);
		const [anna, ben, cleo] = people as [Person, Person, Person];
		const [toAnna, toBen] = await Promise.all([device(anna), device(ben)]);
		const sockets = [await connect(anna), await connect(ben)];
		const [withAnna, withBen] = [await dm(cleo, anna), await dm(cleo, ben)];
		// Ben has the message on screen, Anna is elsewhere.
		expect(await sockets[1]?.ask({ type: 'channel_focus', channel: withBen, revision: 0 })).toMatchObject({
			ok: true,
		});
		for (const channel of [withAnna, withBen]) await cleo.call('chat.postMessage', { channel, text: 'hi' });
		const after = await until(
			() => scene.providers.phone(toAnna),
			({ received }) => received === 1,
		);
		expect(after.received).toBe(1);
		const { admin } = await makeWorkspace(scene.url, 0, 'Others');
		await until(
			() => admin('admin.push.list'),
			({ pending }) => pending === 0,
		);
		expect((await scene.providers.phone(toBen)).received).toBe(0);
		for (const socket of sockets) socket.close();
	}));

test('a focused device that hangs: its user is notified, and the badge stays', () =>
	withPush(
		async (scene) => {
			const { people } = await makeWorkspace(scene.url, 2);
			const [anna, ben] = people as [Person, Person];
			const phone = await device(anna);
			const channel = await channelOf(ben, anna);
			const laptop = await RawClient.open(await socketUrl(anna));
			await laptop.ask({ type: 'channel_focus', channel });
			laptop.hang();
			await ben.call('chat.postMessage', { channel, text: `<@${anna.id}> are you there?` });
			const shown = await until(
				() => scene.providers.phone(phone),
				({ received }) => received === 1,
			);
			expect(shown).toMatchObject({ received: 1, badge: 1 });
			await until(
				async () => (await ben.call('users.getPresence', { user: anna.id })).presence,
				(presence) => presence === 'away',
			);
			expect((await anna.call('client.counts')).badge).toBe(1);
			expect(await scene.providers.phone(phone)).toMatchObject({ received: 1, withdrawn: 0 });
			laptop.end();
		},
		{ flags: ['--socket-timeout-seconds', '2'] },
	));

test('a message that is read while it waits is not notified', () =>
	withPush(async (scene) => {
		const { people, admin } = await makeWorkspace(scene.url, 2);
		const [anna, ben] = people as [Person, Person];
		const phone = await device(anna);
		const socket = await connect(anna);
		const channel = await dm(ben, anna);
		const { ts } = await ben.call('chat.postMessage', { channel, text: 'hi' });
		const pending = (count: number) =>
			until(
				() => admin('admin.push.list'),
				(found) => found.pending === count,
			);
		expect(await pending(1)).toMatchObject({ pending: 1 });
		await anna.call('conversations.mark', { channel, ts });
		expect(await pending(0)).toMatchObject({ pending: 0, dead: 0 });
		expect((await scene.providers.phone(phone)).received).toBe(0);
		socket.close();
	}));

test('deleted, edited, left and archived messages are withdrawn; users mentioned by an edit are notified', () =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 3);
		const [anna, ben, cleo] = people as [Person, Person, Person];
		const [toAnna, toBen] = await Promise.all([device(anna), device(ben)]);
		const channel = await channelOf(cleo, anna, ben);
		for (const person of [anna, ben])
			await person.call('conversations.setNotifications', { channel, level: 'mentions' });
		const post = async (text: string) =>
			(await cleo.call('chat.postMessage', { channel, text })).ts as string;
		const bodies = async () =>
			Promise.all(
				[toAnna, toBen].map(async (token) => (await shownOn(scene, token)).map(({ body }) => body).sort()),
			);
		const shows = async (...expected: string[][]) =>
			expect(await until(bodies, (now) => Bun.deepEquals(now, expected))).toEqual(expected);

		const first = await post(`one <@${anna.id}>`);
		const second = await post(`two <@${anna.id}>`);
		await shows(['one @person-0', 'two @person-0'], []);
		expect((await scene.providers.phone(toAnna)).badge).toBe(2);

		await cleo.call('chat.delete', { channel, ts: first });
		await shows(['two @person-0'], []);
		expect((await scene.providers.phone(toAnna)).badge).toBe(1);

		// The mention moves from one user to another; a reworded text for the same user causes no new notification.
		await cleo.call('chat.update', { channel, ts: second, text: `two <@${ben.id}>` });
		await shows([], ['two @person-1']);
		expect((await scene.providers.phone(toAnna)).badge).toBe(0);
		await cleo.call('chat.update', { channel, ts: second, text: `two, dear <@${ben.id}>` });

		await ben.call('conversations.leave', { channel });
		await shows([], []);

		await post(`three <@${anna.id}>`);
		await shows(['three @person-0'], []);
		await cleo.call('conversations.archive', { channel });
		await shows([], []);
		expect((await scene.providers.phone(toAnna)).badge).toBe(0);
		expect(await scene.providers.counts()).toMatchObject({ sent: 4, doubled: 0, showing: 0 });
	}));

test('a deleted broadcast reply is withdrawn from members who do not follow its thread', () =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 3);
		const [anna, ben, cleo] = people as [Person, Person, Person];
		const phone = await device(anna);
		const channel = await channelOf(cleo, anna, ben);
		const root = (await cleo.call('chat.postMessage', { channel, text: 'root' })).ts;
		const reply = await ben.call('chat.postMessage', {
			channel,
			text: '<!channel> look',
			thread_ts: root,
			reply_broadcast: true,
		});
		const shows = (count: number) =>
			until(
				() => shownOn(scene, phone),
				(shown) => shown.length === count,
			);
		expect(await shows(2)).toHaveLength(2);
		await ben.call('chat.delete', { channel, ts: reply.ts });
		expect(await shows(1)).toHaveLength(1);
		expect((await scene.providers.phone(phone)).badge).toBe(0);
	}));

test('a burst of reading causes few updates, and the last badge is right', () =>
	withPush(async (scene) => {
		const { people } = await makeWorkspace(scene.url, 2);
		const [anna, ben] = people as [Person, Person];
		const phone = await device(anna);
		const channel = await dm(ben, anna);
		const sent: string[] = [];
		for (let number = 0; number < 20; number += 1)
			sent.push((await ben.call('chat.postMessage', { channel, text: `${number}` })).ts);
		await until(
			() => scene.providers.phone(phone),
			({ received }) => received === 20,
		);
		for (const ts of sent.slice(0, 15)) {
			await anna.call('conversations.mark', { channel, ts });
			await Bun.sleep(100);
		}
		const after = await until(
			() => scene.providers.phone(phone),
			({ withdrawn }) => withdrawn === 15,
		);
		expect(after).toMatchObject({ withdrawn: 15, badge: 5 });
		const times = after.updates.map(({ at }) => at);
		// Times are taken on arrival, so the transit is allowed for.
		for (const [index, at] of times.entries())
			if (index > 0) expect(at - (times[index - 1] as number)).toBeGreaterThan(1_700);
	}));

test('a device that is gone is removed; failed sends are retried, dead ones are kept and can be replayed', () =>
	withPush(async (scene) => {
		const { people, admin } = await makeWorkspace(scene.url, 7);
		const [author, ...others] = people as [Person, ...Person[]];
		const names = ['gone-1', 'bad-1', 'failing-2-x', 'throttled-1-x', 'topic-1', 'fine'];
		const tokens = await Promise.all(others.map((one, index) => device(one, 'apns', names[index])));
		const androids = await Promise.all(
			['gone-2', 'failing-1-y'].map((name, index) => device(others[index] as Person, 'fcm', name)),
		);
		const channel = await channelOf(author, ...others);
		await author.call('chat.postMessage', { channel, text: 'once' });
		const counts = await until(
			() => scene.providers.counts(),
			({ sent }) => sent === 4,
		);
		expect(counts).toMatchObject({ sent: 4, doubled: 0 });
		const listed = await until(
			() => admin('admin.push.list'),
			({ pending, dead }) => pending === 0 && dead === 1,
		);
		expect(listed).toMatchObject({ pending: 0, dead: 1, items: [{ error: '400 DeviceTokenNotForTopic' }] });
		const left = (await Promise.all(others.map((one) => one.call('push.devices.list')))).flatMap(
			({ devices }) => devices.map(({ token }: { token: string }) => token),
		);
		expect(left.sort()).toEqual(
			['failing-2-x', 'throttled-1-x', 'topic-1', 'fine', androids[1] as string].sort(),
		);
		expect(tokens).toHaveLength(6);
		expect((await admin('admin.push.replay')).replayed).toBe(1);
		await until(
			() => admin('admin.push.list'),
			({ dead }) => dead === 1,
		);
	}));

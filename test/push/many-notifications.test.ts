import { expect, test } from 'bun:test';
import { makeWorkspace, type Person } from '../support/people.ts';
import { type PushScene, until, withPush } from './push-server.ts';

/** Tens of thousands of notifications in one run, with the sender killed in the middle, and their rate per second. */

const PEOPLE = 1_000;
/** PUSH_MESSAGES=100 for the long run. */
const MESSAGES = Number(process.env.PUSH_MESSAGES ?? 40);
const ALL = PEOPLE * MESSAGES;
const PATIENCE_MS = 100_000;

async function crowd({
	url,
}: PushScene): Promise<{ author: Person; people: readonly Person[]; channel: string }> {
	const { people, admin } = await makeWorkspace(url, PEOPLE + 1);
	const [author, ...others] = people as [Person, ...Person[]];
	const { channel } = await author.call('conversations.create', { name: 'everybody' });
	await admin('admin.conversations.addMembers', { channel: channel.id, users: others.map(({ id }) => id) });
	for (const { call, name } of others)
		await call('push.devices.add', { platform: 'apns', token: `token-${name}` });
	return { author, people: others, channel: channel.id };
}

/** Waits as long as notifications are still being sent, however slow the machine is. */
async function sentAtLeast({ providers }: PushScene, least: number) {
	let counts = await providers.counts();
	for (let before = -1; counts.sent < least && counts.sent > before; ) {
		before = counts.sent;
		counts = await until(
			() => providers.counts(),
			({ sent }) => sent > before,
			PATIENCE_MS,
		);
	}
	return counts;
}

test(
	`${ALL} notifications, with a kill -9 in the middle: none is lost, none is sent twice`,
	() =>
		withPush(async (scene) => {
			const { author, people, channel } = await crowd(scene);
			const posted: string[] = [];
			const post = async (count: number) => {
				for (let number = 0; number < count; number += 1)
					posted.push((await author.call('chat.postMessage', { channel, text: `<!channel> ${number}` })).ts);
			};
			await post(MESSAGES / 2);
			const before = await sentAtLeast(scene, ALL / 8);
			expect(before.sent).toBeLessThan(ALL / 2);
			await scene.kill();
			await post(MESSAGES / 2);
			const from = { at: performance.now(), sent: (await sentAtLeast(scene, ALL / 4)).sent };
			const counts = await sentAtLeast(scene, ALL);
			const perSecond = Math.round((counts.sent - from.sent) / ((performance.now() - from.at) / 1000));
			expect(counts).toMatchObject({ sent: ALL, doubled: 0, showing: ALL });

			// A tenth of the users read everything on another device: their notifications disappear, and their badge is 0.
			const readers = people.slice(0, PEOPLE / 10);
			await Promise.all(
				readers.map(({ call }) => call('conversations.mark', { channel, ts: posted.at(-1) })),
			);
			const gone = readers.length * MESSAGES;
			const after = await until(
				() => scene.providers.counts(),
				({ withdrawn }) => withdrawn >= gone,
				PATIENCE_MS,
			);
			expect(after).toMatchObject({ withdrawn: gone, showing: ALL - gone, doubled: 0 });
			expect(await scene.providers.phone(`token-${readers[0]?.name}`)).toMatchObject({ badge: 0, shown: {} });
			const { repeated } = after;
			console.log(
				`push: ${counts.sent} sent, ${after.withdrawn} withdrawn, ${after.doubled} doubled, ${ALL - counts.sent} lost; ` +
					`${repeated} sent twice around the kill and shown once; ${perSecond} a second`,
			);
		}),
	480_000,
);

/** Executes one operation on the server first, then on the oracle, with the server's stamps. */

import type { Driver } from './driver.ts';
import type { Operation } from './operations.ts';
import type { Oracle } from './oracle.ts';
import type { World } from './scene.ts';

/** The driver's method for an optional operation. Throws if the driver lacks it: then the history must not contain it. */
function methodOf<K extends 'follow' | 'unfollow' | 'markThread' | 'markThreadUnread' | 'setActive'>(
	driver: Driver,
	name: K,
): NonNullable<Driver[K]> {
	const method = driver[name];
	if (method === undefined) {
		throw new Error(`the driver has no ${name}: disable its group in the history's options`);
	}
	return method.bind(driver) as NonNullable<Driver[K]>;
}

async function performPost(
	driver: Driver,
	oracle: Oracle,
	operation: Extract<Operation, { kind: 'post' | 'reply' }>,
): Promise<void> {
	const { conversation, user, text } = operation;
	const options =
		operation.kind === 'reply' ? { threadTs: operation.threadTs, broadcast: operation.broadcast } : {};
	const newest = Math.max(0, ...oracle.messages(conversation).map((message) => message.ts));
	const ts = await driver.post(conversation, user, text, options);
	if (!Number.isSafeInteger(ts) || ts <= newest) {
		throw new Error(`ts must be strictly increasing: ${ts} after ${newest}`);
	}
	oracle.post(conversation, user, text, ts, options);
}

async function performMark(
	driver: Driver,
	oracle: Oracle,
	{ conversation, user, ts, revision }: Extract<Operation, { kind: 'mark' }>,
): Promise<void> {
	const { ignored } = await driver.mark(conversation, user, ts, revision);
	const expected = oracle.mark(conversation, user, ts, revision);
	if (ignored !== expected.ignored) {
		throw new Error(`mark answered ignored: ${ignored}, the oracle says ${expected.ignored}`);
	}
}

export async function perform(
	driver: Driver,
	oracle: Oracle,
	world: World,
	operation: Operation,
): Promise<void> {
	switch (operation.kind) {
		case 'create': {
			const { slot, type, members, name } = operation;
			const { id, at } = await driver.createConversation(type, members, name);
			world.conversations[slot] = id;
			return oracle.createConversation(id, type, members, at);
		}
		case 'join':
			await driver.join(operation.conversation, operation.user, operation.by);
			return oracle.join(operation.conversation, operation.user);
		case 'leave':
			await driver.leave(operation.conversation, operation.user);
			return oracle.leave(operation.conversation, operation.user);
		case 'kick':
			await driver.kick(operation.conversation, operation.user, operation.by);
			return oracle.leave(operation.conversation, operation.user);
		case 'archive':
			await driver.archive(operation.conversation, operation.by);
			return oracle.archive(operation.conversation);
		case 'unarchive':
			await driver.unarchive(operation.conversation, operation.by);
			return oracle.unarchive(operation.conversation);
		case 'post':
		case 'reply':
			return performPost(driver, oracle, operation);
		case 'edit':
			await driver.edit(operation.conversation, operation.user, operation.ts, operation.text);
			// No count depends on the time of an edit, so its stamp need not be known.
			return oracle.edit(operation.conversation, operation.ts, operation.text, operation.ts);
		case 'remove':
			await driver.remove(operation.conversation, operation.user, operation.ts);
			return oracle.remove(operation.conversation, operation.ts);
		case 'mark':
			return performMark(driver, oracle, operation);
		case 'markUnread':
			await driver.markUnread(operation.conversation, operation.user, operation.ts);
			return oracle.markUnread(operation.conversation, operation.user, operation.ts);
		case 'markMessage':
			await driver.markMessage(operation.conversation, operation.user, operation.ts);
			return oracle.markMessage(operation.conversation, operation.user, operation.ts);
		case 'markAllRead':
			await driver.markAllRead(operation.user);
			return oracle.markAllRead(operation.user);
		case 'mute':
			await driver.mute(operation.conversation, operation.user, operation.muted);
			return oracle.mute(operation.conversation, operation.user, operation.muted);
		case 'setActive': {
			const at = await methodOf(driver, 'setActive')(operation.user, operation.active);
			return oracle.setActive(operation.user, operation.active, at);
		}
		default:
			return performOnThread(driver, oracle, operation);
	}
}

async function performOnThread(
	driver: Driver,
	oracle: Oracle,
	operation: Extract<Operation, { kind: 'follow' | 'unfollow' | 'markThread' | 'markThreadUnread' }>,
): Promise<void> {
	const { conversation, threadTs, user } = operation;
	switch (operation.kind) {
		case 'follow':
			await methodOf(driver, 'follow')(conversation, threadTs, user, operation.lastRead);
			return oracle.follow(conversation, threadTs, user, operation.lastRead);
		case 'unfollow':
			await methodOf(driver, 'unfollow')(conversation, threadTs, user);
			return oracle.unfollow(conversation, threadTs, user);
		case 'markThread':
			await methodOf(driver, 'markThread')(conversation, threadTs, user, operation.ts);
			return oracle.markThread(conversation, threadTs, user, operation.ts);
		case 'markThreadUnread':
			await methodOf(driver, 'markThreadUnread')(conversation, threadTs, user, operation.ts);
			return oracle.markThreadUnread(conversation, threadTs, user, operation.ts);
	}
}

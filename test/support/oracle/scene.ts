/**
 * Draws users, conversations and messages for an operation from the oracle's current state. The server would accept
 * everything drawn here.
 */

import type { Groups } from './operations.ts';
import type { Oracle } from './oracle.ts';
import type { Random } from './random.ts';
import { randomText } from './texts.ts';

/** The server's ids for the history's users and conversations, in the order of the plan. */
export interface World {
	readonly users: readonly string[];
	readonly conversations: (string | undefined)[];
}

export interface Scene {
	readonly random: Random;
	readonly oracle: Oracle;
	readonly world: World;
	readonly groups: Groups;
	readonly slot: number | undefined;
}

/** Lists are in the order of the plan, because ids differ from server to server. */
export function membersOf({ oracle, world }: Scene, conversation: string): string[] {
	const members = new Set(oracle.members(conversation));
	return world.users.filter((user) => members.has(user));
}

function existing({ oracle, world }: Scene, archived: boolean): string[] {
	return world.conversations
		.filter((id) => id !== undefined)
		.filter((id) => oracle.conversation(id).archived === archived);
}

/** Users can leave and archive only channels; direct messages stay. */
export function channels(scene: Scene, archived = false): string[] {
	return existing(scene, archived).filter((id) => {
		const { kind } = scene.oracle.conversation(id);
		return kind === 'public' || kind === 'private';
	});
}

/** A user in a conversation: most operations begin with this. */
export function actor(
	scene: Scene,
	pool = existing(scene, false),
): { conversation: string; user: string } | undefined {
	const populated = pool.filter((id) => membersOf(scene, id).length > 0);
	const conversation = scene.random.pick(populated);
	const user = conversation === undefined ? undefined : scene.random.pick(membersOf(scene, conversation));
	return conversation === undefined || user === undefined ? undefined : { conversation, user };
}

export function textFor(scene: Scene, conversation: string): string {
	return randomText(scene.random, scene.world.users, membersOf(scene, conversation), scene.groups);
}

/**
 * The threads of a conversation that have undeleted replies, in one pass: asking the oracle about each message would scan
 * all messages each time, which took most of the time of a long history. Comparisons with the server never use this.
 */
function threadsWithReplies({ oracle }: Scene, conversation: string): Set<number> {
	const threads = new Set<number>();
	for (const { threadTs, deleted } of oracle.messages(conversation)) {
		if (threadTs !== undefined && !deleted) {
			threads.add(threadTs);
		}
	}
	return threads;
}

/** A thread to reply in or follow: often one with replies, sometimes a root without any. */
export function pickThread(scene: Scene, conversation: string): number | undefined {
	const { oracle, random } = scene;
	const replied = threadsWithReplies(scene, conversation);
	const roots = oracle
		.messages(conversation)
		.filter(({ ts, threadTs, deleted }) => threadTs === undefined && (!deleted || replied.has(ts)))
		.map((message) => message.ts);
	const busy = roots.filter((ts) => replied.has(ts));
	return random.pickRecent(random.chance(0.65) && busy.length > 0 ? busy : roots, 4);
}

/** A user with a followed thread that has replies and can be marked. */
export function pickFollowed(
	scene: Scene,
): { conversation: string; user: string; threadTs: number } | undefined {
	const { oracle, random, world } = scene;
	const threads = existing(scene, false).flatMap((conversation) =>
		[...threadsWithReplies(scene, conversation)]
			.sort((a, b) => a - b)
			.map((threadTs) => ({ conversation, threadTs })),
	);
	const followed = world.users.flatMap((user) =>
		threads
			.filter(({ conversation, threadTs }) => oracle.isFollowing(user, conversation, threadTs))
			.map(({ conversation, threadTs }) => ({ conversation, user, threadTs })),
	);
	return random.pick(followed);
}

/**
 * An undeleted message by a current member; sometimes one that names a user who has left since, because chance alone
 * rarely leads to an edit of such a message, which has a rule of its own.
 */
export function pickOwn(scene: Scene): { conversation: string; user: string; ts: number } | undefined {
	const { oracle, random } = scene;
	const conversation = actor(scene)?.conversation;
	if (conversation === undefined) {
		return undefined;
	}
	const members = membersOf(scene, conversation);
	const own = oracle
		.messages(conversation)
		.filter((message) => !message.deleted && members.includes(message.author));
	const namingLeft = own.filter((message) => [...message.named].some((user) => !members.includes(user)));
	const message = random.pickRecent(random.chance(0.3) && namingLeft.length > 0 ? namingLeft : own);
	return message === undefined ? undefined : { conversation, user: message.author, ts: message.ts };
}

/** A user and a message of the timeline. */
export function pickInTimeline(scene: Scene): { conversation: string; user: string; ts: number } | undefined {
	const who = actor(scene);
	const ts = who === undefined ? undefined : scene.random.pickRecent(scene.oracle.timeline(who.conversation));
	return who === undefined || ts === undefined ? undefined : { ...who, ts };
}

/** A mark need not be on a message: deleted messages, replies and later stamps are valid too. */
export function markTarget(
	random: Random,
	exact: readonly number[],
	any: readonly number[],
): number | undefined {
	const newest = any.at(-1);
	const draw = random.next();
	if (draw < 0.08 && newest !== undefined) {
		return newest + 60_000_000;
	}
	return random.pickRecent(draw < 0.2 ? any : exact);
}

export function revisionFor(random: Random, current: number): number | undefined {
	const draw = random.next();
	if (draw < 0.4) {
		return undefined;
	}
	if (draw < 0.7) {
		return current;
	}
	return draw < 0.95 ? Math.max(0, current - 1) : current + 3;
}

/**
 * Turns a planned operation into a concrete one, from the oracle's current state. Never produces an operation that the
 * server would reject: if nothing fits, the step is skipped.
 */

import { CONVERSATIONS } from './history.ts';
import type { Operation, OperationKind, PlannedOperation } from './operations.ts';
import type { Oracle } from './oracle.ts';
import { Random } from './random.ts';
import {
	actor,
	channels,
	markTarget,
	membersOf,
	pickFollowed,
	pickInTimeline,
	pickOwn,
	pickThread,
	revisionFor,
	type Scene,
	textFor,
	type World,
} from './scene.ts';

type Resolver = (scene: Scene) => Operation | undefined;

const RESOLVERS: Readonly<Record<OperationKind, Resolver>> = {
	create: ({ slot = -1, world }) => {
		const planned = CONVERSATIONS[slot];
		if (planned === undefined || world.conversations[slot] !== undefined) {
			return undefined;
		}
		const members = planned.members.map((index) => world.users[index]).filter((user) => user !== undefined);
		return { kind: 'create', slot, name: planned.name, type: planned.type, members };
	},
	join: (scene) => {
		const who = actor(scene, channels(scene));
		if (who === undefined) {
			return undefined;
		}
		const { conversation, user: by } = who;
		const outside = scene.world.users.filter((each) => !membersOf(scene, conversation).includes(each));
		const user = scene.random.pick(outside);
		const invited = scene.oracle.conversation(conversation).kind === 'private';
		return user === undefined
			? undefined
			: { kind: 'join', conversation, user, by: invited ? by : undefined };
	},
	leave: (scene) => {
		const who = actor(scene, channels(scene));
		// The last member stays: nobody could invite into a private channel again.
		return who && membersOf(scene, who.conversation).length > 1 ? { kind: 'leave', ...who } : undefined;
	},
	kick: (scene) => {
		const who = actor(scene, channels(scene));
		const others = who ? membersOf(scene, who.conversation).filter((user) => user !== who.user) : [];
		const by = scene.random.pick(others);
		return who && by ? { kind: 'kick', ...who, by } : undefined;
	},
	archive: (scene) => {
		const who = actor(scene, channels(scene));
		return who && { kind: 'archive', conversation: who.conversation, by: who.user };
	},
	unarchive: (scene) => {
		const who = actor(scene, channels(scene, true));
		return who && { kind: 'unarchive', conversation: who.conversation, by: who.user };
	},
	post: (scene) => {
		const who = actor(scene);
		return who && { kind: 'post', ...who, text: textFor(scene, who.conversation) };
	},
	reply: (scene) => {
		const who = actor(scene);
		const threadTs = who && pickThread(scene, who.conversation);
		if (who === undefined || threadTs === undefined) {
			return undefined;
		}
		const broadcast = scene.random.chance(0.25);
		return { kind: 'reply', ...who, threadTs, broadcast, text: textFor(scene, who.conversation) };
	},
	edit: (scene) => {
		const message = pickOwn(scene);
		if (message === undefined) {
			return undefined;
		}
		const { conversation, ts } = message;
		const before = scene.oracle.messages(conversation).find((each) => each.ts === ts)?.text ?? '';
		// Often keeps the old text, because a rule of its own applies to users who were named before the edit and still are.
		const added = textFor(scene, conversation);
		const text = scene.random.chance(0.4) && !before.includes('`') ? `${before} ${added}` : added;
		return { kind: 'edit', ...message, text };
	},
	remove: (scene) => {
		const message = pickOwn(scene);
		return message && { kind: 'remove', ...message };
	},
	mark: (scene) => {
		const { oracle, random } = scene;
		const who = actor(scene);
		if (who === undefined) {
			return undefined;
		}
		const any = oracle.messages(who.conversation).map((message) => message.ts);
		const ts = markTarget(random, oracle.timeline(who.conversation), any);
		const current = oracle.row(who.user, who.conversation)?.revision ?? 0;
		return ts === undefined
			? undefined
			: { kind: 'mark', ...who, ts, revision: revisionFor(random, current) };
	},
	markUnread: (scene) => {
		const message = pickInTimeline(scene);
		return message && { kind: 'markUnread', ...message };
	},
	markMessage: (scene) => {
		const message = pickInTimeline(scene);
		return message && { kind: 'markMessage', ...message };
	},
	markAllRead: ({ random, world }) => {
		const user = random.pick(world.users);
		return user === undefined ? undefined : { kind: 'markAllRead', user };
	},
	mute: (scene) => {
		const who = actor(scene);
		return who && { kind: 'mute', ...who, muted: scene.random.chance(0.5) };
	},
	follow: (scene) => {
		const who = actor(scene);
		const threadTs = who && pickThread(scene, who.conversation);
		if (who === undefined || threadTs === undefined) {
			return undefined;
		}
		const given = scene.random.pick([threadTs, ...scene.oracle.replies(who.conversation, threadTs)]);
		return { kind: 'follow', ...who, threadTs, lastRead: scene.random.chance(0.25) ? given : undefined };
	},
	unfollow: (scene) => {
		const followed = pickFollowed(scene);
		return followed && { kind: 'unfollow', ...followed };
	},
	markThread: (scene) => {
		const followed = pickFollowed(scene);
		if (followed === undefined) {
			return undefined;
		}
		const { conversation, threadTs } = followed;
		const any = scene.oracle.messages(conversation).filter((message) => message.threadTs === threadTs);
		const ts = markTarget(
			scene.random,
			scene.oracle.replies(conversation, threadTs),
			any.map((message) => message.ts),
		);
		return ts === undefined ? undefined : { kind: 'markThread', ...followed, ts };
	},
	markThreadUnread: (scene) => {
		const followed = pickFollowed(scene);
		const ts = followed && scene.random.pick(scene.oracle.replies(followed.conversation, followed.threadTs));
		return followed && ts !== undefined ? { kind: 'markThreadUnread', ...followed, ts } : undefined;
	},
	setActive: ({ random, world }) => {
		const user = random.pick(world.users);
		return user === undefined ? undefined : { kind: 'setActive', user, active: random.chance(0.6) };
	},
};

export function resolve(planned: PlannedOperation, oracle: Oracle, world: World): Operation | undefined {
	const random = new Random(planned.seed);
	return RESOLVERS[planned.kind]({ random, oracle, world, groups: planned.groups, slot: planned.slot });
}

import type { Operation } from '../support/oracle/operations.ts';
import type { Oracle } from '../support/oracle/oracle.ts';
import type { Random } from '../support/oracle/random.ts';

/**
 * Operations that independent draws seldom produce. Users take back what they did in the previous round, so that a late write of old
 * state overwrites newer state. Users post to the same conversation at the same moment, so that one post is decided on top of another
 * that may fail.
 */

/** First step numbers of these operations, for `--without`; planned operations have lower numbers. */
export const EXTRA_STEPS = { takeBack: 1_000, echo: 2_000, focus: 3_000 };

const TAKE_BACK = 0.6;
const ECHO = 0.4;

/** Takes back one of these operations, all of which the oracle has applied. */
export function takeBack(
	random: Random,
	oracle: Oracle,
	before: readonly Operation[],
): Operation | undefined {
	if (!random.chance(TAKE_BACK)) return undefined;
	const possible = before.flatMap((operation) => oppositeOf(operation, oracle) ?? []);
	return random.pick(possible);
}

/** Another member posts to the conversation of one of these posts. */
export function echo(random: Random, oracle: Oracle, among: readonly Operation[]): Operation | undefined {
	if (!random.chance(ECHO)) return undefined;
	const post = random.pick(among.filter(({ kind }) => kind === 'post')) as
		| Extract<Operation, { kind: 'post' }>
		| undefined;
	if (!post) return undefined;
	const { conversation } = post;
	const user = random.pick(oracle.members(conversation).filter((member) => member !== post.user));
	return user === undefined ? undefined : { kind: 'post', conversation, user, text: 'me too' };
}

function oppositeOf(operation: Operation, oracle: Oracle): Operation | undefined {
	if (!('conversation' in operation)) return undefined;
	const { conversation } = operation;
	const { archived, kind } = oracle.conversation(conversation);
	const members = oracle.members(conversation);
	const [by] = members;
	if (by === undefined) return undefined;
	if (operation.kind === 'archive') return archived ? { kind: 'unarchive', conversation, by } : undefined;
	if (archived) return undefined;
	switch (operation.kind) {
		case 'unarchive':
			return { kind: 'archive', conversation, by };
		case 'leave':
		case 'kick': {
			const { user } = operation;
			if (members.includes(user)) return undefined;
			return { kind: 'join', conversation, user, by: kind === 'private' ? by : undefined };
		}
		case 'join': {
			const { user } = operation;
			return members.length > 1 && members.includes(user) ? { kind: 'leave', conversation, user } : undefined;
		}
		case 'markUnread': {
			// Another device of the user still has the conversation in focus, and does not know of the mark unread.
			const { user } = operation;
			const { revision = 0 } = oracle.row(user, conversation) ?? {};
			const newest = oracle.timeline(conversation).at(-1);
			if (!members.includes(user) || revision === 0 || newest === undefined) return undefined;
			return { kind: 'mark', conversation, user, ts: newest, revision: revision - 1 };
		}
		case 'edit': {
			const { user, ts, text } = operation;
			const message = oracle.messages(conversation).find((one) => one.ts === ts);
			if (!members.includes(user) || !message || message.deleted) return undefined;
			return { kind: 'edit', conversation, user, ts, text: `not ${text}` };
		}
		default:
			return undefined;
	}
}

import { NO_CHANNEL_TEXT } from '../../../src/model/conversation.ts';
import type { Action, Command } from '../../../src/sequencer/commands.ts';
import type { Decision } from '../../../src/sequencer/decide.ts';
import { Random } from '../oracle/random.ts';

/** Commands about one conversation, drawn from a seed and from the outcomes of earlier commands. */

export const TEAM = 'T01';
export const CHANNEL = 'C01';
const USERS = ['U01', 'U02', 'U03', 'U04', 'U05', 'U06'];

export const createChannel = (at: number, members: readonly string[] = ['U01', 'U02']): Command => ({
	conversation: CHANNEL,
	actor: 'U01',
	team: TEAM,
	at,
	action: {
		type: 'create',
		members,
		conversation: {
			id: CHANNEL,
			team: TEAM,
			kind: 'public',
			name: 'general',
			creator: 'U01',
			archived: false,
			topic: NO_CHANNEL_TEXT,
			purpose: NO_CHANNEL_TEXT,
			previousNames: [],
			people: [],
		},
	},
});

/** Commands per phase. The conversation grows for two phases; in the third, most of the new messages are deleted. */
const PHASE = 120;
const SHRINKING = { delete: 95, post: 5 } as const;
const GROWING = {
	post: 40,
	reply: 25,
	edit: 12,
	delete: 16,
	join: 8,
	leave: 5,
	invite: 4,
	kick: 3,
	follow: 4,
	unfollow: 4,
	archive: 1,
	unarchive: 3,
	rename: 1,
	react: 20,
	pin: 6,
} as const;

const NOTHING = Object.fromEntries(Object.keys(GROWING).map((kind) => [kind, 0])) as Record<
	keyof typeof GROWING,
	number
>;

export class RandomCommands {
	private readonly random: Random;
	private readonly roots: number[] = [];
	private readonly all: number[] = [];
	/** Authors of messages by ts, and of sends by id. */
	private readonly authors = new Map<number | string | null, string>();
	private count = 0;
	private at = 1_000_000;
	private sends = 0;

	constructor(seed: number) {
		this.random = new Random(seed);
	}

	next(): Command {
		const { random } = this;
		// Clocks of gateways differ: a later command may have an earlier time.
		this.at += random.below(2_000) - 500;
		this.count += 1;
		const action = this.action();
		const author = this.authors.get(
			'ts' in action ? action.ts : 'clientMsgId' in action ? action.clientMsgId : null,
		);
		const actor = author !== undefined && random.chance(0.8) ? author : random.pick(USERS)!;
		return { conversation: CHANNEL, actor, team: TEAM, at: this.at, action };
	}

	/** Records the message of an outcome, so that later commands can refer to it. */
	saw({ outcome }: Decision): void {
		if (!outcome.ok || !outcome.result.message || outcome.result.repeated) return;
		const { ts, threadTs, editedTs, deleted, user, clientMsgId } = outcome.result.message;
		if (deleted) this.all.splice(this.all.indexOf(ts), 1);
		if (editedTs !== null || deleted) return;
		this.authors.set(ts, user);
		if (clientMsgId !== null) this.authors.set(clientMsgId, user);
		this.all.push(ts);
		if (threadTs === null) this.roots.push(ts);
	}

	private action(): Action {
		const { random } = this;
		const isShrinking = Math.floor(this.count / PHASE) % 3 === 2;
		const kind = random.weighted<keyof typeof GROWING>(isShrinking ? { ...NOTHING, ...SHRINKING } : GROWING);
		const someone = random.pick(USERS)!;
		const root = random.pickRecent(this.roots) ?? 1;
		const message = (isShrinking ? this.all.at(-1) : random.pickRecent(this.all)) ?? 1;
		switch (kind) {
			case 'post':
				return this.post(null);
			case 'reply':
				return this.post(random.chance(0.05) ? message : root);
			case 'edit':
				return { type: 'edit', ts: message, content: this.content() };
			case 'delete':
				return { type: 'delete', ts: message };
			case 'invite':
				return {
					type: 'invite',
					users: [...new Set([someone, random.pick(USERS)!])],
					force: random.chance(0.5),
				};
			case 'kick':
				return { type: 'kick', user: someone };
			case 'follow':
				return { type: 'follow', threadTs: root, lastRead: random.chance(0.5) ? message : null };
			case 'unfollow':
				return { type: 'unfollow', threadTs: root };
			case 'pin':
				return { type: 'pin', ts: message, added: random.chance(0.6) };
			case 'react':
				return {
					type: 'react',
					ts: message,
					name: random.pick(['+1', 'eyes', 'wave'])!,
					added: random.chance(0.6),
				};
			case 'rename':
				return { type: 'rename', name: `name-${random.below(100)}` };
			default:
				return { type: kind };
		}
	}

	private post(threadTs: number | null): Action {
		const { random } = this;
		const isRepeated = random.chance(0.2);
		if (!isRepeated) this.sends += 1;
		return {
			type: 'post',
			content: this.content(),
			threadTs,
			broadcast: random.chance(0.2),
			clientMsgId: random.chance(0.5)
				? `send-${isRepeated ? 1 + random.below(this.sends) : this.sends}`
				: null,
		};
	}

	private content() {
		const { random } = this;
		const named = random.chance(0.3) ? ` <@${random.pick(USERS)}>` : '';
		const wide = random.chance(0.1) ? ' <!channel>' : '';
		return { text: random.chance(0.02) ? ' ' : `words${named}${wide}`, extra: null };
	}
}

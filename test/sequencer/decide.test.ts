import { describe, expect, test } from 'bun:test';
import { type ConversationKind, generalChannelOf } from '../../src/model/ids.ts';
import { MAX_EMOJI, MAX_PER_USER } from '../../src/model/reactions.ts';
import type { Action, Command, Outcome } from '../../src/sequencer/commands.ts';
import { sequence } from '../../src/sequencer/decide.ts';
import type { Effect } from '../../src/sequencer/effects.ts';
import { Conversations } from '../../src/worker/conversations.ts';
import { FactsStore } from '../support/sequencer/facts-store.ts';
import { createChannel, TEAM } from '../support/sequencer/random-commands.ts';

/** The errors of each command, and its effects. U01 and U02 are members; U03 is not. */

const START = 1_000_000;

class Channel {
	private readonly store = new FactsStore();
	private readonly owner = new Conversations(
		this.store.source as never,
		this.store.history as never,
		() => 0,
	);
	private at = START;
	effects: readonly Effect[] = [];

	constructor(private readonly id: string) {}

	static async open(kind: ConversationKind = 'public', id = 'C01'): Promise<Channel> {
		const channel = new Channel(id);
		const { action, ...command } = createChannel(START);
		if (action.type !== 'create') throw new Error('not a channel');
		await channel.decide({
			...command,
			conversation: id,
			action: { ...action, conversation: { ...action.conversation, id, kind } },
		});
		return channel;
	}

	async does(actor: string, action: Action, team = TEAM): Promise<Outcome> {
		this.at += 10;
		return this.decide({ conversation: this.id, actor, team, at: this.at, action });
	}

	/** The error code, or `ok`. */
	async says(actor: string, action: Action, team = TEAM): Promise<string> {
		const outcome = await this.does(actor, action, team);
		return outcome.ok ? 'ok' : outcome.error;
	}

	async posts(actor: string, fields: Partial<Extract<Action, { type: 'post' }>> = {}): Promise<number> {
		const outcome = await this.does(actor, post('words', fields));
		if (!outcome.ok || !outcome.result.message) throw new Error(JSON.stringify(outcome));
		return outcome.result.message.ts;
	}

	/** Which threads another owner loads before it decides this action. */
	async threadsLoadedFor(actor: string, action: Action): Promise<readonly number[]> {
		const loaded: number[] = [];
		const { source, history } = this.store;
		const recording = {
			...source,
			threadReplies: (id: string, threadTs: number) => {
				loaded.push(threadTs);
				return source.threadReplies(id, threadTs);
			},
		};
		const other = new Conversations(recording as never, history as never, () => 0);
		await other.ready({ conversation: this.id, actor, team: TEAM, at: this.at + 10, action });
		return loaded;
	}

	private async decide(command: Command): Promise<Outcome> {
		const { outcome, effects } = sequence(await this.owner.ready(command), command);
		this.store.write(effects);
		this.effects = effects;
		return outcome;
	}
}

const post = (text: string, fields: Partial<Extract<Action, { type: 'post' }>> = {}): Action => ({
	type: 'post',
	content: { text, extra: null },
	threadTs: null,
	broadcast: false,
	clientMsgId: null,
	...fields,
});
const edit = (ts: number, text = 'other words'): Action => ({
	type: 'edit',
	ts,
	content: { text, extra: null },
});
const invite = (users: string[], force = false): Action => ({ type: 'invite', users, force });

describe('rejections', () => {
	test('non-members learn that a public channel exists, and nothing else', async () => {
		const actions: Action[] = [
			post('x'),
			edit(1),
			{ type: 'delete', ts: 1 },
			{ type: 'archive' },
			invite(['U04']),
		];
		for (const [kind, error] of [
			['public', 'not_in_channel'],
			['private', 'channel_not_found'],
			['im', 'channel_not_found'],
		] as const) {
			const channel = await Channel.open(kind);
			for (const action of actions) expect([kind, await channel.says('U03', action)]).toEqual([kind, error]);
		}
	});

	test('a channel is unknown in another workspace', async () => {
		expect(await (await Channel.open()).says('U01', post('x'), 'T02')).toBe('channel_not_found');
	});

	test('users edit and delete only their own existing messages, and no message is empty', async () => {
		const channel = await Channel.open();
		const ts = await channel.posts('U01');
		expect(await channel.says('U02', edit(ts))).toBe('cant_update_message');
		expect(await channel.says('U02', { type: 'delete', ts })).toBe('cant_delete_message');
		expect(await channel.says('U01', edit(ts, ' '))).toBe('no_text');
		expect(await channel.says('U01', edit(ts + 1))).toBe('message_not_found');
		expect(await channel.says('U01', { type: 'delete', ts })).toBe('ok');
		expect(await channel.says('U01', { type: 'delete', ts })).toBe('message_not_found');
		expect(await channel.says('U01', post(' '))).toBe('no_text');
	});

	test('replies need an existing root', async () => {
		const channel = await Channel.open();
		const root = await channel.posts('U01');
		const reply = await channel.posts('U02', { threadTs: root });
		expect(await channel.says('U01', post('x', { threadTs: reply }))).toBe('cannot_reply_to_message');
		expect(await channel.says('U01', { type: 'delete', ts: root })).toBe('ok');
		expect(await channel.says('U01', post('x', { threadTs: root }))).toBe('ok');
		const other = await channel.posts('U01');
		expect(await channel.says('U01', { type: 'delete', ts: other })).toBe('ok');
		expect(await channel.says('U01', post('x', { threadTs: other }))).toBe('thread_not_found');
	});

	test('nothing changes in an archived channel until it is unarchived', async () => {
		const channel = await Channel.open();
		const ts = await channel.posts('U01');
		expect(await channel.says('U01', { type: 'archive' })).toBe('ok');
		expect(await channel.says('U01', { type: 'archive' })).toBe('already_archived');
		const rejected: [Action, string][] = [
			[post('x'), 'is_archived'],
			[edit(ts), 'is_inactive'],
			[invite(['U03']), 'is_archived'],
			[{ type: 'leave' }, 'is_archived'],
			[{ type: 'rename', name: 'other' }, 'is_archived'],
			[{ type: 'follow', threadTs: ts, lastRead: null }, 'is_archived'],
		];
		for (const [action, error] of rejected) expect(await channel.says('U01', action)).toBe(error);
		expect(await channel.says('U01', { type: 'unarchive' })).toBe('ok');
		expect(await channel.says('U01', post('x'))).toBe('ok');
	});

	test('a user reacts once per emoji, to existing messages, up to the limits, and removes only their own reaction', async () => {
		const channel = await Channel.open();
		const ts = await channel.posts('U01');
		const react = (name: string, added = true): Action => ({ type: 'react', ts, name, added });
		expect(await channel.says('U03', react('+1'))).toBe('not_in_channel');
		expect(await channel.says('U02', react('+1', false))).toBe('no_reaction');
		expect(await channel.says('U02', react('+1'))).toBe('ok');
		expect(await channel.says('U02', react('+1'))).toBe('already_reacted');
		expect(await channel.says('U01', react('+1', false))).toBe('no_reaction');
		expect(await channel.says('U01', react('+1'))).toBe('ok');
		expect(channel.effects).toMatchObject([
			{ type: 'reacted', current: { count: 2, users: ['U02', 'U01'] } },
		]);
		expect(await channel.says('U02', react('+1', false))).toBe('ok');
		expect(channel.effects).toMatchObject([{ added: false, current: { count: 1, users: ['U01'] } }]);
		expect(await channel.says('U01', react('+1', false))).toBe('ok');
		expect(channel.effects).toMatchObject([{ current: null }]);
		for (let index = 0; index < MAX_PER_USER; index += 1)
			expect(await channel.says('U01', react(`e${index}`))).toBe('ok');
		expect(await channel.says('U01', react('one-more'))).toBe('too_many_reactions');
		expect(await channel.says('U01', { type: 'delete', ts })).toBe('ok');
		expect(await channel.says('U02', react('+1'))).toBe('message_not_found');
	});

	test('a message has a limited number of different emoji; users can still add those that it has', async () => {
		const channel = await Channel.open();
		await channel.does('U01', invite(['U03', 'U04']));
		const ts = await channel.posts('U01');
		const users = ['U01', 'U02', 'U03'];
		for (let index = 0; index < MAX_EMOJI; index += 1) {
			const user = users[Math.floor(index / MAX_PER_USER)]!;
			expect(await channel.says(user, { type: 'react', ts, name: `e${index}`, added: true })).toBe('ok');
		}
		const by = (name: string): Action => ({ type: 'react', ts, name, added: true });
		expect(await channel.says('U04', by('one-more'))).toBe('too_many_emoji');
		expect(await channel.says('U04', by('e7'))).toBe('ok');
	});

	test('users cannot invite themselves or members, and nobody joins or leaves a direct message', async () => {
		const channel = await Channel.open();
		expect(await channel.says('U01', invite(['U01']))).toBe('cant_invite_self');
		expect(await channel.says('U01', invite(['U02']))).toBe('already_in_channel');
		expect(await channel.says('U01', invite(['U02', 'U03']))).toBe('already_in_channel');
		expect(await channel.says('U01', invite(['U02', 'U03'], true))).toBe('ok');
		expect(await channel.says('U01', { type: 'kick', user: 'U01' })).toBe('cant_kick_self');
		expect(await channel.says('U01', { type: 'kick', user: 'U04' })).toBe('not_in_channel');
		const direct = await Channel.open('im');
		for (const action of [invite(['U03']), { type: 'leave' }, { type: 'kick', user: 'U02' }] as const)
			expect(await direct.says('U01', action)).toBe('method_not_supported_for_channel_type');
	});

	test('nobody leaves or archives the general channel', async () => {
		const channel = await Channel.open('public', generalChannelOf(TEAM));
		expect(await channel.says('U01', { type: 'leave' })).toBe('cant_leave_general');
		expect(await channel.says('U01', { type: 'kick', user: 'U02' })).toBe('cant_kick_from_general');
		expect(await channel.says('U01', { type: 'archive' })).toBe('cant_archive_general');
		expect(channel.effects).toEqual([]);
		expect(await channel.says('U03', { type: 'leave' })).toBe('ok');
		expect(await channel.says('U01', { type: 'rename', name: 'hall' })).toBe('ok');
	});

	test('the last member of a private channel cannot leave', async () => {
		const channel = await Channel.open('private');
		expect(await channel.says('U02', { type: 'leave' })).toBe('ok');
		expect(await channel.says('U01', { type: 'leave' })).toBe('last_member');
	});
});

describe('effects', () => {
	test('a send with a known id returns the first message, and changes nothing', async () => {
		const channel = await Channel.open();
		const ts = await channel.posts('U01', { clientMsgId: 'one' });
		const again = await channel.does('U01', post('other', { clientMsgId: 'one' }));
		expect(again).toMatchObject({ ok: true, result: { repeated: true, message: { ts, text: 'words' } } });
		expect(channel.effects).toEqual([]);
		expect(await channel.posts('U02', { clientMsgId: 'one' })).toBeGreaterThan(ts);
	});

	test('after a reply, the author of the root, everybody who replied, and members whom it names follow the thread', async () => {
		const channel = await Channel.open();
		await channel.does('U01', invite(['U04']));
		const root = await channel.posts('U01');
		await channel.does('U02', post('<@U04> <@U03> <@U02>', { threadTs: root }));
		const followed = channel.effects.flatMap((effect) =>
			effect.type === 'followed' ? [[effect.user, effect.cursor - effect.at]] : [],
		);
		expect(followed).toEqual([
			['U01', root - (channel.effects[0]?.at ?? 0)],
			['U02', 0],
			['U04', -1],
		]);
	});

	test('users who name themselves do not follow, neither by a reply nor by an edit', async () => {
		const channel = await Channel.open();
		const root = await channel.posts('U01');
		const reply = await channel.posts('U02', { threadTs: root });
		await channel.does('U02', { type: 'unfollow', threadTs: root });
		await channel.does('U02', edit(reply, 'I, <@U02>'));
		expect(channel.effects.map(({ type }) => type)).toEqual(['edited']);
	});
});

test('the thread of a reply is loaded once, however many users the reply names', async () => {
	const channel = await Channel.open();
	const threadTs = await channel.posts('U01');
	const reply = post('<@U01> and <@U02>', { threadTs });
	expect(await channel.threadsLoadedFor('U02', reply)).toEqual([threadTs]);
});

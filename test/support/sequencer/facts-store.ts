import type { History, StateSource } from '../../../src/engine/ports/store.ts';
import { inTimeline, type Message } from '../../../src/model/message.ts';
import type { Pin } from '../../../src/model/pins.ts';
import type { Reaction } from '../../../src/model/reactions.ts';
import type { Effect } from '../../../src/sequencer/effects.ts';
import { type Follow, type JoinState, sendKey } from '../../../src/sequencer/state.ts';

/** A store of one conversation, filled by effects: plain maps, without database and clock. */
export class FactsStore {
	private conversation: Effect['conversation'] | null = null;
	private stamp = 0;
	private lastTs = 0;
	private readonly members = new Map<string, JoinState>();
	private readonly messages = new Map<number, Message>();
	private readonly follows = new Map<string, Follow>();
	private readonly sends = new Map<string, number>();
	private readonly reactions = new Map<number, Map<string, Reaction>>();
	private readonly pins = new Map<number, Pin>();
	private readonly reacted = new Map<string, Set<string>>();

	write(effects: readonly Effect[]): void {
		for (const effect of effects) this.writeOne(effect);
	}

	/** What the owner of a conversation loads. Like a database, it answers asynchronously. */
	get source(): Pick<
		StateSource,
		| 'head'
		| 'memberships'
		| 'threadReplies'
		| 'follows'
		| 'send'
		| 'recentSends'
		| 'timelineEntries'
		| 'reactionsFor'
	> {
		return {
			head: async () =>
				this.conversation && {
					conversation: this.conversation,
					stamp: this.stamp,
					lastTs: this.lastTs,
				},
			memberships: async (_, users) =>
				new Map(users.flatMap((user) => (this.members.has(user) ? [[user, this.members.get(user)!]] : []))),
			threadReplies: async (_, threadTs) =>
				this.ascending(({ threadTs: of, deleted }) => of === threadTs && !deleted),
			follows: async (_, threadTs, users) =>
				new Map(
					users.flatMap((user) => {
						const follow = this.follows.get(`${threadTs} ${user}`);
						return follow ? [[user, follow] as const] : [];
					}),
				),
			reactionsFor: async (_, ts, user) => ({
				reactions: [...(this.reactions.get(ts)?.values() ?? [])],
				own: [...(this.reacted.get(`${ts} ${user}`) ?? [])],
			}),
			send: async (_, user, clientMsgId) => this.sends.get(sendKey(user, clientMsgId)) ?? null,
			recentSends: async (_, after, limit) =>
				this.ascending(({ ts, clientMsgId }) => clientMsgId !== null && ts > after)
					.slice(-limit)
					.map(({ ts, user, clientMsgId }) => ({ ts, user, clientMsgId: clientMsgId ?? '' })),
			timelineEntries: async (_, after, upTo, limit) =>
				this.ascending((message) => inTimeline(message) && message.ts > after && message.ts <= upTo)
					.slice(-limit)
					.map(({ ts, user, broadcast, channelWide, here, named }) => ({
						ts,
						user,
						broadcast,
						channelWide,
						here,
						named,
					})),
		};
	}

	get history(): Pick<History, 'messages' | 'pins'> {
		return {
			pins: async () => [...this.pins.values()],
			messages: async (_, wanted) => this.ascending(({ ts }) => wanted.includes(ts)),
		};
	}

	private ascending(isWanted: (message: Message) => boolean): Message[] {
		return [...this.messages.values()].filter(isWanted).sort((a, b) => a.ts - b.ts);
	}

	private writeOne(effect: Effect): void {
		this.conversation = effect.conversation;
		this.stamp = effect.at;
		switch (effect.type) {
			case 'created':
				for (const user of effect.members) this.members.set(user, { member: true, joinedTs: effect.at });
				break;
			case 'joined':
				for (const user of effect.users) this.members.set(user, { member: true, joinedTs: effect.at });
				break;
			case 'left':
				this.members.set(effect.user, {
					member: false,
					joinedTs: this.members.get(effect.user)?.joinedTs ?? 0,
				});
				break;
			case 'posted':
				this.lastTs = effect.message.ts;
				this.messages.set(effect.message.ts, effect.message);
				if (effect.message.clientMsgId !== null)
					this.sends.set(sendKey(effect.message.user, effect.message.clientMsgId), effect.message.ts);
				break;
			case 'pinned':
				if (effect.added) this.pins.set(effect.ts, { ts: effect.ts, user: effect.user, at: effect.at });
				else this.pins.delete(effect.ts);
				break;
			case 'reacted': {
				const { ts, name, user, added, current } = effect;
				const reactions = this.reactions.get(ts) ?? new Map<string, Reaction>();
				this.reactions.set(ts, reactions);
				if (current) reactions.set(name, current);
				else reactions.delete(name);
				const own = this.reacted.get(`${ts} ${user}`) ?? new Set<string>();
				this.reacted.set(`${ts} ${user}`, own);
				if (added) own.add(name);
				else own.delete(name);
				break;
			}
			case 'edited':
			case 'deleted':
				this.messages.set(effect.message.ts, effect.message);
				if (effect.type === 'deleted') this.pins.delete(effect.message.ts);
				break;
			case 'followed':
				this.follows.set(`${effect.threadTs} ${effect.user}`, {
					cursor: effect.cursor,
					active: true,
					since: effect.at,
				});
				break;
			case 'unfollowed':
				this.follows.set(`${effect.threadTs} ${effect.user}`, { cursor: 0, active: false, since: effect.at });
				break;
		}
	}
}

import { Rejection } from '../../../model/errors.ts';
import { readableConversation } from '../access.ts';
import { boundedAnswer } from '../answer-size.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { messagePage } from '../message-objects.ts';
import { userMethod } from '../method.ts';
import { submit } from '../submit.ts';
import { permalinkOf } from './chat-permalink.ts';

/** Pins: members add and remove them; users who may read the conversation see them. */

const change = (added: boolean) =>
	userMethod({
		limited: 'posts',
		arguments: { channel: type.channel, timestamp: optional(type.ts('bad_timestamp')) },
		ignored: ['file', 'file_comment'],
		run: async ({ channel, timestamp: ts }, call) => {
			if (ts === undefined) throw new Rejection('no_item_specified', 'timestamp: required');
			await submit(call, channel, { type: 'pin', ts, added });
			return {};
		},
	});

export const pinsAdd = change(true);
export const pinsRemove = change(false);

export const pinsList = userMethod({
	arguments: { channel: type.channel },
	run: async ({ channel }, call) => {
		const conversation = await readableConversation(call, channel);
		const { history } = call.services;
		const pins = [...(await history.pins(channel))].sort((a, b) => b.at - a.at);
		return boundedAnswer(call, async (mostBytes) => {
			const messages = await history.messages(
				channel,
				pins.map(({ ts }) => ts),
				{ nearest: 'newest', mostBytes },
			);
			const live = messages.filter(({ deleted }) => !deleted).reverse();
			const { objects, isCut } = await messagePage(call, conversation, live, mostBytes);
			const shown = new Map(objects.map((object, index) => [live[index]?.ts, object]));
			const items = pins.flatMap(({ ts, user, at }) => {
				const message = live.find((one) => one.ts === ts);
				const object = shown.get(ts);
				if (!message || !object) return [];
				return [
					{
						type: 'message',
						channel,
						message: { ...object, permalink: permalinkOf(call, message) },
						created: Math.floor(at / 1e6),
						created_by: user,
					},
				];
			});
			const hasMore = isCut || messages.length < pins.length;
			return { answer: { items, has_more: hasMore }, isCut: hasMore };
		});
	},
});

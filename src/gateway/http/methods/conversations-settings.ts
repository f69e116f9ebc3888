import * as type from '../argument-types.ts';
import { channelAnswer } from '../conversation-objects.ts';
import { userMethod } from '../method.ts';
import { submit } from '../submit.ts';

/** Archives conversations, and sets their topic and purpose. */

export const conversationsArchive = userMethod({
	arguments: { channel: type.channel },
	run: async ({ channel }, call) => {
		await submit(call, channel, { type: 'archive' });
		return {};
	},
});

export const conversationsUnarchive = userMethod({
	arguments: { channel: type.channel },
	run: async ({ channel }, call) => {
		await submit(call, channel, { type: 'unarchive' });
		return {};
	},
});

/** An empty text removes the topic or purpose. */
const channelText = type.text();

export const conversationsSetTopic = userMethod({
	arguments: { channel: type.channel, topic: channelText },
	run: async ({ channel, topic }, call) => {
		const { conversation } = await submit(call, channel, { type: 'set_topic', value: topic });
		return { topic, ...(conversation ? await channelAnswer(call, conversation) : {}) };
	},
});

export const conversationsSetPurpose = userMethod({
	arguments: { channel: type.channel, purpose: channelText },
	run: async ({ channel, purpose }, call) => {
		const { conversation } = await submit(call, channel, { type: 'set_purpose', value: purpose });
		return { purpose, ...(conversation ? await channelAnswer(call, conversation) : {}) };
	},
});

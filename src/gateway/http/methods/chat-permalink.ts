import { Rejection } from '../../../model/errors.ts';
import type { Message } from '../../../model/message.ts';
import { formatTs } from '../../../model/ts.ts';
import { readableConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { type UserCall, userMethod } from '../method.ts';
import { webUrl } from '../origin.ts';

/** Returns an address that opens the message in the web interface, with its thread if it is a reply. */
export const chatGetPermalink = userMethod({
	arguments: { channel: type.channel, message_ts: type.ts('message_not_found') },
	run: async (args, call) => {
		const { id } = await readableConversation(call, args.channel);
		const [message] = await call.services.history.messages(id, [args.message_ts]);
		if (!message || message.deleted) throw new Rejection('message_not_found', 'message_ts: no such message');
		return { channel: id, permalink: permalinkOf(call, message) };
	},
});

export function permalinkOf({ request }: Pick<UserCall, 'request'>, message: Message): string {
	const { conversation: id, ts, threadTs, broadcast } = message;
	const isInThread = threadTs !== null && !broadcast;
	const shown = `at=${formatTs(isInThread ? threadTs : ts)}`;
	const thread = threadTs === null ? '' : `&thread=${id}:${formatTs(threadTs)}`;
	return `${webUrl(request)}#/c/${id}?${shown}${thread}`;
}

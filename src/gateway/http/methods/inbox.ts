import type { CountRow, InboxPlace } from '../../../engine/ports/read-state.ts';
import { Refusal } from '../../../model/errors.ts';
import { isConversationId } from '../../../model/ids.ts';
import { formatTs } from '../../../model/ts.ts';
import { countFields, type JsonObject } from '../../../protocol/objects.ts';
import * as type from '../argument-types.ts';
import { type UserCall, userMethod } from '../method.ts';
import { nextCursor } from '../paging.ts';

/** One's conversations by latest activity, each with its counts and a look at its newest message. */

const PAGE = 20;

export const inboxList = userMethod({
	arguments: { limit: type.limit(PAGE), cursor: type.cursor('inbox'), unread_first: type.flag },
	run: async ({ limit, cursor, unread_first: unreadFirst }, call) => {
		const { services, caller } = call;
		const start = cursor === undefined ? null : placeOf(cursor);
		// One more than is shown tells whether there is a next page.
		const rows = await services.readState.inbox(caller.user.id, { limit: limit + 1, start, unreadFirst });
		const page = rows.slice(0, limit);
		const last = page.at(-1);
		return {
			items: await Promise.all(page.map((row) => itemOf(call, row))),
			...nextCursor('inbox', last && rows.length > limit ? textOf(last) : null),
		};
	},
});

async function itemOf({ services }: UserCall, row: CountRow): Promise<JsonObject> {
	const [message] = row.latest === 0 ? [] : await services.history.messages(row.conversation, [row.latest]);
	const latest = message && { ts: formatTs(message.ts), user: message.user, text: message.text };
	return { id: row.conversation, ...countFields(row), latest: latest ?? null };
}

const textOf = (row: CountRow): string => `${row.unread > 0 ? 1 : 0}.${row.latest}.${row.conversation}`;

function placeOf(text: string): InboxPlace {
	const [unread = '', latest = '', conversation = ''] = text.split('.');
	if (!/^[01]$/.test(unread) || !/^\d{1,16}$/.test(latest) || !isConversationId(conversation))
		throw new Refusal('invalid_cursor', 'cursor: not one that this method handed out');
	return { unread: unread === '1', latest: Number(latest), conversation };
}

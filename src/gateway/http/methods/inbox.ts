import type { CountRow, InboxPageStart } from '../../../engine/ports/read-state.ts';
import { Rejection } from '../../../model/errors.ts';
import { isConversationId } from '../../../model/ids.ts';
import type { Message } from '../../../model/message.ts';
import { formatTs } from '../../../model/ts.ts';
import { countFields, type JsonObject, usernameField } from '../../../protocol/objects.ts';
import { previewOf } from '../../../protocol/preview.ts';
import * as type from '../argument-types.ts';
import { costOfRows, type UserCall, userMethod } from '../method.ts';
import { openCursor, sealedNext } from '../sealed-cursor.ts';

/** The caller's conversations by latest activity, each with its counts and a preview of its newest message. */

const METHOD = 'inbox.list';
const PAGE = 20;
const LOADED_AT_ONCE = 16;
const FLAG = /^[01]$/;
const STAMP = /^\d{1,16}$/;
const STAMP_OR_NONE = /^\d{0,16}$/;

export const inboxList = userMethod({
	arguments: { limit: type.limit(PAGE), cursor: type.sealedCursor, unread_first: type.flag },
	cost: ({ limit }) => costOfRows(limit),
	run: async ({ limit, cursor, unread_first: unreadFirst }, call) => {
		const { services, caller } = call;
		const from = await openCursor(call, METHOD, cursor);
		const start = from === null ? null : parsePageStart(from, unreadFirst);
		const page = await services.readState.inbox(caller.user.id, { limit, start, unreadFirst });
		if (page === 'no_such_listing')
			throw new Rejection('invalid_cursor', 'cursor: the list has expired; start again without a cursor');
		const items: JsonObject[] = [];
		// Load a few messages at a time: only a preview of each is kept.
		for (let start = 0; start < page.rows.length; start += LOADED_AT_ONCE) {
			const rows = page.rows.slice(start, start + LOADED_AT_ONCE);
			items.push(...(await Promise.all(rows.map((row) => itemOf(call, row)))));
		}
		return { items, ...(await sealedNext(call, METHOD, page.next && formatPageStart(page.next))) };
	},
});

async function itemOf({ services }: UserCall, row: CountRow): Promise<JsonObject> {
	const [message] = row.latest === 0 ? [] : await services.history.messages(row.conversation, [row.latest]);
	return { id: row.conversation, ...countFields(row), latest: message ? latestOf(message) : null };
}

function latestOf(whole: Message): JsonObject {
	const { message, isCut } = previewOf(whole);
	const { ts, user, text } = message;
	return { ts: formatTs(ts), user, ...usernameField(message), text, ...(isCut ? { is_preview: true } : {}) };
}

const formatPageStart = ({ listing, unread, latest, conversation }: InboxPageStart): string =>
	`${listing ?? ''}.${unread ? 1 : 0}.${latest}.${conversation}`;

function parsePageStart(text: string, unreadFirst: boolean): InboxPageStart {
	const [listing = '', unread = '', latest = '', conversation = ''] = text.split('.');
	const isOurs = STAMP_OR_NONE.test(listing) && FLAG.test(unread) && STAMP.test(latest);
	if (!isOurs || !isConversationId(conversation))
		throw new Rejection('invalid_cursor', 'cursor: this method did not return it');
	if ((listing !== '') !== unreadFirst)
		throw new Rejection('invalid_cursor', 'cursor: belongs to a list with another unread_first');
	return {
		listing: unreadFirst ? Number(listing) : null,
		unread: unread === '1',
		latest: Number(latest),
		conversation,
	};
}

import { filesIn } from '../../model/files.ts';
import type { Message } from '../../model/message.ts';
import { deleteFrom, insertInto, type Writes } from './write-sql.ts';

/** Records which messages contain a file, in the transaction of the message. */

const SHARE = insertInto('file_shares', { file: 1, conversation: 2, ts: 3, thread_ts: 4 }, 'ignore');
const UNSHARE = deleteFrom('file_shares', { conversation: 1, ts: 2 });

export function writeShares({ conversation, ts, threadTs, extra }: Message, into: Writes): void {
	for (const { id } of filesIn(extra)) into.add(SHARE, [id, conversation, ts, threadTs]);
}

/** When the message is deleted. The files stay. */
export function deleteShares({ conversation, ts, extra }: Message, into: Writes): void {
	if (filesIn(extra).length > 0) into.add(UNSHARE, [conversation, ts]);
}

import type { MessageKey } from '../engine/ports/push.ts';
import type { CountSink, MemberState } from '../engine/ports/read-state.ts';
import { isDirect } from '../model/ids.ts';
import { inTimeline, type Message } from '../model/message.ts';
import type { ReadState } from '../unread/read-state.ts';
import type { BatchData } from './batch-data.ts';
import { isObsolete, type NotifiableMessage, type Recipient, reasonOf } from './decide.ts';

/** The state of a user towards a message, read from the same read state that other devices use. */

const NO_ROWS: CountSink = { begin: () => undefined, row: () => undefined };

export class RecipientStates {
	constructor(private readonly readState: ReadState) {}

	/** The user's badge, as in client.counts. */
	async badge(user: string): Promise<number> {
		return (await this.readState.countsInto(user, NO_ROWS)).badge;
	}

	/** `ahead`: the message is in the user's ahead set. Null: the user is not a member, or the conversation is archived. */
	async of(
		user: string,
		message: Message,
		ahead: boolean,
	): Promise<Pick<Recipient, 'user' | 'member' | 'muted' | 'level' | 'follows' | 'read'> | null> {
		const { conversation, threadTs } = message;
		const view = await this.readState.member(user, conversation);
		if (!view || view.archived) return null;
		const thread = threadTs === null ? null : await this.readState.thread(user, conversation, threadTs);
		const readInThread = thread !== null && thread.lastRead >= message.ts;
		return {
			user,
			member: true,
			muted: view.muted,
			level: view.level,
			follows: thread !== null,
			read: readInThread || (inTimeline(message) && isRead(view, message, ahead)),
		};
	}

	/**
	 * Whether the message mentioned the user with `<!here>`, that is, the user was active when it was posted. Expensive: called only if
	 * the decision depends on it.
	 */
	async wasMentionedByHere(user: string, { conversation, ts }: MessageKey): Promise<boolean> {
		const unread = await this.readState.unread(user, conversation, 'in badge');
		return unread.some((item) => item.ts === ts && item.reasons.includes('channel_mention'));
	}
}

const isRead = ({ lastRead }: MemberState, { ts }: Message, ahead: boolean): boolean =>
	ahead || lastRead >= ts;

/** Adds whether the user was active when the message was posted, if the decision depends on it. */
export async function withActivity(
	recipients: RecipientStates,
	subject: NotifiableMessage,
	message: Message,
	recipient: Recipient,
): Promise<Recipient> {
	if (!subject.here || recipient.read || reasonOf(subject, recipient) !== null) return recipient;
	if (reasonOf(subject, { ...recipient, wasActive: true }) === null) return recipient;
	return { ...recipient, wasActive: await recipients.wasMentionedByHere(recipient.user, message) };
}

/** Whether a message no longer concerns a user. */
export async function isObsoleteFor(
	{ user, ahead }: { readonly user: string; readonly ahead: boolean },
	message: Message,
	data: BatchData,
	recipients: RecipientStates,
): Promise<boolean> {
	const state = message.deleted ? null : await recipients.of(user, message, ahead);
	const conversation = data.conversation(message.conversation);
	if (!state || !conversation) return true;
	const subject = { ...message, direct: isDirect(conversation.kind) };
	const recipient = { ...state, wasActive: false, active: false, waited: true };
	return isObsolete(subject, await withActivity(recipients, subject, message, recipient));
}

import type { Message, TidemarkClient } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useState } from 'react';
import { runShortcut, useAppFeatures } from '../apps/features.ts';
import { ReactDialog } from '../dialogs/ReactDialog.tsx';
import { ReadersDialog } from '../dialogs/ReadersDialog.tsx';
import { useSelf } from '../session/names.ts';
import { openThread } from '../session/route.ts';
import { toast, toastResult } from '../session/toast.tsx';
import { copyText } from '../ui/copying.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { Icon } from '../ui/icons.tsx';
import { Menu, type MenuItem } from '../ui/Menu.tsx';
import { wordsOf } from './content.ts';
import { DeleteDialog } from './DeleteDialog.tsx';
import { isEditable } from './editing.ts';
import { NOTHING_TO_MARK, unreadFrom } from './mark-unread.ts';
import { plainText } from './plain-text.ts';

interface Props {
	readonly message: Message;
	readonly isInThread: boolean;
	readonly onEdit: () => void;
}

/** The actions on a message. */
export function MessageActions({ message, isInThread, onEdit }: Props) {
	const client = useClient();
	const self = useSelf();
	const [dialog, setDialog] = useState<'readers' | 'delete' | 'react' | null>(null);
	const isMine = message.user === self;
	const canEdit = isEditable(message, self);
	const copied = () => message.text || plainText(wordsOf(message), client.getSnapshot().users);
	const readActions = useReadActions(message, isInThread);
	const shortcuts = useAppFeatures().shortcuts.filter(({ type }) => type === 'message');
	const items: MenuItem[] = [
		...readActions,
		...(isInThread ? [] : [{ label: 'Who has read this', run: () => setDialog('readers') }]),
		{ label: 'Copy text', run: () => toastResult(copyText(copied()), 'Copied.') },
		...shortcuts.map((shortcut) => ({
			label: shortcut.name,
			hint: shortcut.app_name,
			run: () =>
				toastResult(runShortcut(client, shortcut, { channel: message.channel, message_ts: message.ts })),
		})),
		...(isMine
			? [
					...(canEdit ? [{ label: 'Edit', run: onEdit }] : []),
					{ label: 'Delete…', isDangerous: true, run: () => setDialog('delete') },
				]
			: []),
	];
	return (
		<>
			<div className="message-actions-place">
				<div className="message-actions">
					<IconButton icon="smile" label="Add a reaction" onClick={() => setDialog('react')} />
					{!isInThread && (
						<IconButton
							icon="thread"
							label="Reply in thread"
							onClick={() => openThread(message.channel, message.threadTs ?? message.ts)}
						/>
					)}
					{canEdit && <IconButton icon="edit" label="Edit message" onClick={onEdit} />}
					<Menu label="More actions" items={items}>
						<Icon name="more" />
					</Menu>
				</div>
			</div>
			{dialog === 'react' && <ReactDialog message={message} onClose={() => setDialog(null)} />}
			{dialog === 'readers' && <ReadersDialog message={message} onClose={() => setDialog(null)} />}
			{dialog === 'delete' && <DeleteDialog message={message} onClose={() => setDialog(null)} />}
		</>
	);
}

/** Marks a reply read or unread in its thread, any other message in its conversation. */
function useReadActions(message: Message, isInThread: boolean): readonly MenuItem[] {
	const client = useClient();
	const self = useSelf();
	const { channel, ts, threadTs } = message;
	if (isInThread) {
		if (!threadTs || threadTs === ts) return [];
		const thread = client.thread(channel, threadTs);
		const mark = () => {
			const from = unreadFrom(thread.getSnapshot().replies, ts, self);
			if (from === null) toast(NOTHING_TO_MARK);
			else toastResult(thread.markUnread(from));
		};
		return [
			{ label: 'Mark unread from here', run: mark },
			{ label: 'Mark read up to here', run: () => toastResult(thread.mark(ts)) },
		];
	}
	const conversation = client.conversation(channel);
	return [
		{ label: 'Mark unread from here', hint: 'U', run: () => markUnread(client, channel, ts) },
		{ label: 'Mark read up to here', run: () => toastResult(conversation.mark(ts)) },
	];
}

/** Marks this message and later ones unread. For one of the user's own messages, starts at the next message by another user. */
export function markUnread(client: TidemarkClient, channel: string, ts: string): void {
	const conversation = client.conversation(channel);
	const from = unreadFrom(conversation.getSnapshot().messages, ts, client.getSnapshot().self?.id ?? '');
	if (from === null) toast(NOTHING_TO_MARK);
	else toastResult(conversation.markUnread(from));
}

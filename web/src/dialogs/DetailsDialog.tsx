import type { Conversation } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useState } from 'react';
import { isChannel, titledName, useIsGeneral } from '../session/names.ts';
import { go, toScreen } from '../session/route.ts';
import { toastResult } from '../session/toast.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { plural } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { AddPeople } from './AddPeople.tsx';
import { channelNameFrom } from './channel-name.ts';
import { EditableLine } from './EditableLine.tsx';
import { MemberList } from './MemberList.tsx';
import { useMembers } from './useMembers.ts';

/** The section that is open when the dialog opens. */
export type DetailsPart = 'members' | 'topic' | 'name' | 'add' | 'archive';

interface Props {
	readonly conversation: Conversation;
	readonly name: string;
	readonly part: DetailsPart;
	readonly onClose: () => void;
}

/** The members of a conversation; for a channel also its topic and name, and archiving and leaving it. */
export function DetailsDialog({ conversation, name, part, onClose }: Props) {
	const members = useMembers(conversation.id);
	const [isAdding, setAdding] = useState(part === 'add');
	const isGeneral = useIsGeneral(conversation);
	const title = titledName(conversation, name);
	if (isAdding)
		return (
			<Dialog key="add" title={`Add people to ${title}`} onClose={onClose} isChooser>
				<AddPeople of={members} onDone={() => setAdding(false)} />
			</Dialog>
		);
	return (
		<Dialog key="details" title={title} onClose={onClose}>
			{isChannel(conversation) && <About conversation={conversation} part={part} />}
			<header className="members-head">
				<h3>{members.members ? plural(members.total, 'member') : 'Members'}</h3>
				{isChannel(conversation) && (
					<button type="button" className="button small" onClick={() => setAdding(true)}>
						<Icon name="plus" /> Add people
					</button>
				)}
			</header>
			<MemberList of={members} />
			{isChannel(conversation) && !isGeneral && (
				<Leaving conversation={conversation} isArchiving={part === 'archive'} onClose={onClose} />
			)}
		</Dialog>
	);
}

interface AboutProps {
	readonly conversation: Conversation;
	readonly part: DetailsPart;
}

function About({ conversation, part }: AboutProps) {
	const store = useClient().conversation(conversation.id);
	return (
		<div className="about">
			<EditableLine
				label="Topic"
				value={conversation.topic}
				empty="What is this channel about?"
				maxLength={250}
				isOpen={part === 'topic'}
				onSave={store.setTopic}
			/>
			<EditableLine
				label="Name"
				value={conversation.name}
				empty=""
				maxLength={80}
				isOpen={part === 'name'}
				onSave={(name) => store.rename(channelNameFrom(name))}
			/>
		</div>
	);
}

interface LeavingProps {
	readonly conversation: Conversation;
	readonly isArchiving: boolean;
	readonly onClose: () => void;
}

/** Buttons to archive and to leave the channel. Asks before archiving, which affects all members, and before leaving a private channel. */
function Leaving({ conversation, isArchiving, onClose }: LeavingProps) {
	const store = useClient().conversation(conversation.id);
	const [isAsking, setAsking] = useState(isArchiving);
	const [isLeaving, setLeaving] = useState(false);
	const end = (work: Promise<void>) => {
		onClose();
		toastResult(work.then(() => go(toScreen('inbox'))));
	};
	if (isLeaving)
		return (
			<div className="leaving">
				<p>This channel is private. You can rejoin only if a member adds you.</p>
				<div className="buttons">
					<button type="button" className="button small" onClick={() => setLeaving(false)}>
						Stay
					</button>
					<button type="button" className="button small danger" onClick={() => end(store.leave())}>
						Leave
					</button>
				</div>
			</div>
		);
	if (isAsking)
		return (
			<div className="leaving">
				<p>
					Archive this channel for everybody? It disappears from the sidebar, and nobody can post in it. To
					read or unarchive it later, find it with Go to… (Ctrl K).
				</p>
				<div className="buttons">
					<button type="button" className="button small" onClick={() => setAsking(false)}>
						Cancel
					</button>
					<button type="button" className="button small danger" onClick={() => end(store.archive())}>
						Archive
					</button>
				</div>
			</div>
		);
	return (
		<div className="leaving buttons">
			<button type="button" className="button small" onClick={() => setAsking(true)}>
				Archive…
			</button>
			<button
				type="button"
				className="button small alarming"
				onClick={() => (conversation.kind === 'private' ? setLeaving(true) : end(store.leave()))}
			>
				Leave the channel
			</button>
		</div>
	);
}

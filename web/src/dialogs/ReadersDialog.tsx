import { ApiError, type Message } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useEffect, useState } from 'react';
import { useSelf, useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { plural } from '../ui/format.ts';
import { errorText, Loading } from '../ui/states.tsx';

/** The other users who have read a message. The server leaves out the author. */
export function ReadersDialog({
	message,
	onClose,
}: {
	readonly message: Message;
	readonly onClose: () => void;
}) {
	const conversation = useClient().conversation(message.channel);
	const self = useSelf();
	const [all, setAll] = useState<readonly string[] | null>(null);
	const readers = all?.filter((id) => id !== self);
	const [error, setError] = useState<string | null>(null);
	useEffect(() => {
		conversation
			.readers(message.ts)
			.then(setAll, (reason) => setError(reason instanceof ApiError ? reason.code : 'network_error'));
	}, [conversation, message.ts]);
	return (
		<Dialog title="Who has read this" onClose={onClose}>
			{error && <p role="alert">{errorText(error)}</p>}
			{!readers && !error && <Loading lines={2} />}
			{readers && (
				<p className="hint">
					{readers.length === 0
						? 'Nobody else has read it yet.'
						: `Read by ${plural(readers.length, 'person', 'people')}.`}
				</p>
			)}
			<ul className="people">
				{readers?.map((id) => (
					<Reader key={id} id={id} />
				))}
			</ul>
		</Dialog>
	);
}

function Reader({ id }: { readonly id: string }) {
	const name = useUserName(id);
	return (
		<li>
			<PersonAvatar id={id} name={name} size="small" /> {name || '…'}
		</li>
	);
}

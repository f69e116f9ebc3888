import type { SharedFile } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { toastResult } from '../session/toast.tsx';
import { Question } from '../ui/Question.tsx';

/** Asks before a file is deleted, because that cannot be undone. */
export function DeleteFileDialog({
	file,
	onClose,
}: {
	readonly file: SharedFile;
	readonly onClose: () => void;
}) {
	const client = useClient();
	return (
		<Question
			title="Delete this file?"
			no="Cancel"
			yes="Delete"
			onNo={onClose}
			onYes={() => {
				toastResult(client.deleteFile(file.id), 'File deleted.');
				onClose();
			}}
		>
			<p>
				This deletes <bdi>{file.title}</bdi> for everybody, in every message that shares it. The messages
				stay.
			</p>
		</Question>
	);
}

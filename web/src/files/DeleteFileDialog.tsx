import type { SharedFile } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { showToast } from '../session/toast.tsx';
import { Question } from '../ui/Question.tsx';

/** Deleting cannot be undone: it asks first. */
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
				showToast(client.deleteFile(file.id), 'File deleted.');
				onClose();
			}}
		>
			<p>
				<bdi>{file.title}</bdi> is deleted for everybody, in every message that shares it. The messages stay.
			</p>
		</Question>
	);
}

import type { SharedFile } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { showToast } from '../session/toast.tsx';
import { Dialog } from '../ui/Dialog.tsx';

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
		<Dialog title="Delete this file?" onClose={onClose}>
			<p>
				<bdi>{file.title}</bdi> is deleted for everybody, in every message that shares it. The messages stay.
			</p>
			<div className="buttons">
				<button type="button" className="button" onClick={onClose}>
					Cancel
				</button>
				<button
					type="button"
					className="button danger"
					onClick={() => {
						showToast(client.deleteFile(file.id), 'File deleted.');
						onClose();
					}}
				>
					Delete
				</button>
			</div>
		</Dialog>
	);
}

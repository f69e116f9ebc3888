import { ApiError, type SharedFile } from '@tidemark/client';
import { useClient } from '@tidemark/client/react';
import { useState } from 'react';
import { useSelf } from '../session/names.ts';
import { toastResult } from '../session/toast.tsx';
import { IconButton } from '../ui/IconButton.tsx';
import { DeleteFileDialog } from './DeleteFileDialog.tsx';

/** Buttons to download a file, and to delete one of the user's own. */
export function FileButtons({ file }: { readonly file: SharedFile }) {
	const client = useClient();
	const self = useSelf();
	const [isAsking, setAsking] = useState(false);
	// Requests the link on click: a link that was requested hours ago has expired.
	const download = async () => {
		const link = await client.fileLink(file.id);
		if (!link) throw new ApiError('file_not_found', 'files.getLinks');
		const anchor = document.createElement('a');
		anchor.href = link.downloadUrl;
		anchor.download = file.name;
		anchor.click();
	};
	return (
		<>
			<IconButton icon="download" label={`Download ${file.title}`} onClick={() => toastResult(download())} />
			{file.user === self && (
				<IconButton icon="trash" label={`Delete ${file.title}`} onClick={() => setAsking(true)} />
			)}
			{isAsking && <DeleteFileDialog file={file} onClose={() => setAsking(false)} />}
		</>
	);
}

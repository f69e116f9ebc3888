import type { SharedFile } from '@tidemark/client';
import { useFileLink, useUser } from '@tidemark/client/react';
import { nameOf } from '../session/names.ts';
import { Dialog } from '../ui/Dialog.tsx';
import { exactTime, fileSize } from '../ui/format.ts';
import { FileButtons } from './FileButtons.tsx';

/** Shows a picture as large as the window allows. */
export function FileViewer({ file, onClose }: { readonly file: SharedFile; readonly onClose: () => void }) {
	const link = useFileLink(file.id);
	const author = nameOf(useUser(file.user));
	return (
		<Dialog title={file.title} onClose={onClose}>
			<div className="viewer">
				{link && (
					<img src={link.url} alt={file.altText || file.title} width={file.width} height={file.height} />
				)}
				<footer>
					<span className="hint">
						<bdi>{author}</bdi> · {exactTime(String(file.created))} · {fileSize(file.size)}
					</span>
					<FileButtons file={file} />
				</footer>
			</div>
		</Dialog>
	);
}

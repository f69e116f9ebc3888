import type { Message, SharedFile } from '@tidemark/client';
import { useClient, useFileLink } from '@tidemark/client/react';
import { useState } from 'react';
import { useSelf } from '../session/names.ts';
import { tell } from '../session/toast.tsx';
import { fileSize } from '../ui/format.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { Icon } from '../ui/icons.tsx';
import { DeleteFileDialog } from './DeleteFileDialog.tsx';
import { FileViewer } from './FileViewer.tsx';
import { drawnSize, isPicture } from './picture.ts';

/** What a message shares: pictures as such, everything else as a card. */
export function MessageFiles({ message }: { readonly message: Message }) {
	if (message.files.length === 0) return null;
	return (
		<ul className="files" aria-label="Files">
			{message.files.map((file) => (
				<li key={file.id}>
					<FileOf file={file} />
				</li>
			))}
		</ul>
	);
}

function FileOf({ file }: { readonly file: SharedFile }) {
	const [isBroken, setBroken] = useState(false);
	if (file.isDeleted) return <p className="file-card hint">This file was deleted.</p>;
	return isPicture(file) && !isBroken ? (
		<Picture file={file} onBroken={() => setBroken(true)} />
	) : (
		<FileCard file={file} />
	);
}

function Picture({ file, onBroken }: { readonly file: SharedFile; readonly onBroken: () => void }) {
	const link = useFileLink(file.id);
	const [isOpen, setOpen] = useState(false);
	const { width, height } = drawnSize(file);
	const shows = file.altText || file.title;
	return (
		<>
			<button
				type="button"
				className="picture"
				style={{ width, aspectRatio: `${width} / ${height}` }}
				aria-label={`Open ${shows}`}
				onClick={() => setOpen(true)}
			>
				{link && <img src={link.url} alt={shows} width={width} height={height} onError={onBroken} />}
			</button>
			{isOpen && <FileViewer file={file} onClose={() => setOpen(false)} />}
		</>
	);
}

function FileCard({ file }: { readonly file: SharedFile }) {
	return (
		<div className="file-card">
			<span className="file-sign">
				<Icon name="file" />
			</span>
			<span className="file-words">
				<strong dir="auto">{file.title}</strong>
				<small className="hint">
					{file.filetype.toUpperCase()} · {fileSize(file.size)}
				</small>
			</span>
			<FileButtons file={file} />
		</div>
	);
}

export function FileButtons({ file }: { readonly file: SharedFile }) {
	const client = useClient();
	const self = useSelf();
	const [isAsking, setAsking] = useState(false);
	// Asked for when it is pressed: the address of a card that stood there for hours has ended.
	const download = async () => {
		const link = await client.fileLink(file.id);
		if (!link) throw new Error('gone');
		const anchor = document.createElement('a');
		anchor.href = link.downloadUrl;
		anchor.download = file.name;
		anchor.click();
	};
	return (
		<>
			<IconButton icon="download" label={`Download ${file.title}`} onClick={() => tell(download())} />
			{file.user === self && (
				<IconButton icon="trash" label={`Delete ${file.title}`} onClick={() => setAsking(true)} />
			)}
			{isAsking && <DeleteFileDialog file={file} onClose={() => setAsking(false)} />}
		</>
	);
}

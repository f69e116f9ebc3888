import type { Message, SharedFile } from '@tidemark/client';
import { useFileLink } from '@tidemark/client/react';
import { useState } from 'react';
import { fileSize } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { FileButtons } from './FileButtons.tsx';
import { FileViewer } from './FileViewer.tsx';
import { drawnSize, isPicture } from './picture.ts';

/** The files of a message: pictures are shown, all others are cards. */
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

import { useEffect, useState } from 'react';
import { fileSize } from '../ui/format.ts';
import { IconButton } from '../ui/IconButton.tsx';
import { Icon } from '../ui/icons.tsx';
import { removeFile, useChosen } from './chosen.ts';

/** The files that the user has attached to an unsent message. */
export function ChosenFiles({ place }: { readonly place: string }) {
	const files = useChosen(place);
	if (files.length === 0) return null;
	return (
		<ul className="chosen-files" aria-label="Files to send">
			{files.map((file, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: the same file may be chosen twice
				<li key={`${file.name} ${index}`}>
					<Thumbnail file={file} />
					<span className="file-words">
						<strong dir="auto">{file.name}</strong>
						<small className="hint">{fileSize(file.size)}</small>
					</span>
					<IconButton icon="close" label={`Remove ${file.name}`} onClick={() => removeFile(place, file)} />
				</li>
			))}
		</ul>
	);
}

function Thumbnail({ file }: { readonly file: File }) {
	const [url, setUrl] = useState<string | null>(null);
	const isPicture = file.type.startsWith('image/');
	useEffect(() => {
		if (!isPicture) return;
		const made = URL.createObjectURL(file);
		setUrl(made);
		return () => URL.revokeObjectURL(made);
	}, [file, isPicture]);
	return <span className="file-sign">{url ? <img src={url} alt="" /> : <Icon name="file" />}</span>;
}

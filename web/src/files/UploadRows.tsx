import { useClient } from '@tidemark/client/react';
import { plural } from '../ui/format.ts';
import { endUpload, retryUpload, type Upload, useUploads } from './uploads.ts';

interface Props {
	readonly place: string;
	/** Called with the text of a message whose upload the user cancelled or discarded. */
	readonly onText: (written: string) => void;
}

/** Uploads in progress and failed ones, above the text box of their conversation. */
export function UploadRows({ place, onText }: Props) {
	const uploads = useUploads(place);
	return uploads.map((upload) => <UploadRow key={upload.id} upload={upload} onText={onText} />);
}

const nameOf = ({ files }: Upload): string =>
	files.length === 1 ? (files[0]?.name ?? '') : plural(files.length, 'file');

function UploadRow({ upload, onText }: { readonly upload: Upload } & Pick<Props, 'onText'>) {
	const client = useClient();
	const end = () => {
		endUpload(upload);
		if (upload.written !== '') onText(upload.written);
	};
	const name = nameOf(upload);
	const percent = Math.floor(upload.progress * 100);
	return (
		<section className="upload" aria-label={`Upload of ${name}`}>
			{upload.error === null ? (
				<>
					<span className="file-words">
						<span dir="auto">Uploading {name}</span>
						<progress aria-label={`Upload of ${name}`} max={100} value={percent} />
					</span>
					<button type="button" className="button small" onClick={end}>
						Cancel
					</button>
				</>
			) : (
				<>
					<span className="file-words" role="alert">
						<strong dir="auto">Not sent: {name}</strong>
						{upload.written !== '' && <span dir="auto">{upload.written}</span>}
						<span className="rejection">{upload.error}</span>
					</span>
					<button type="button" className="button small" onClick={() => retryUpload(client, upload)}>
						Try again
					</button>
					<button type="button" className="button small" onClick={end}>
						Discard
					</button>
				</>
			)}
		</section>
	);
}

import { useClient } from '@tidemark/client/react';
import { PlainText } from '../message/PlainText.tsx';
import { plural } from '../ui/format.ts';
import { endUpload, retryUpload, type Upload, useUploads } from './uploads.ts';

/** Messages with files that are on their way, above the text box of their conversation. */
export function UploadRows({ place }: { readonly place: string }) {
	const uploads = useUploads(place);
	return uploads.map((upload) => <UploadRow key={upload.id} upload={upload} />);
}

const nameOf = ({ files }: Upload): string =>
	files.length === 1 ? (files[0]?.name ?? '') : plural(files.length, 'file');

function UploadRow({ upload }: { readonly upload: Upload }) {
	const client = useClient();
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
					<button type="button" className="button small" onClick={() => endUpload(upload)}>
						Cancel
					</button>
				</>
			) : (
				<>
					<span className="file-words" role="alert">
						<strong dir="auto">{name} was not sent</strong>
						{upload.comment !== '' && (
							<span dir="auto">
								<PlainText said={{ text: upload.comment }} />
							</span>
						)}
						<span className="refusal">{upload.error}</span>
					</span>
					<button type="button" className="button small" onClick={() => retryUpload(client, upload)}>
						Try again
					</button>
					<button type="button" className="button small" onClick={() => endUpload(upload)}>
						Discard
					</button>
				</>
			)}
		</section>
	);
}

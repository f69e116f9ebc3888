import type { Person } from './people.ts';

/** Uploads as Slack's clients do it: an upload URL, the content, the completion. */

export interface Upload {
	readonly id: string;
	readonly url: string;
}

export async function reserved(person: Person, filename: string, length: number): Promise<Upload> {
	const answer = await person.call('files.getUploadURLExternal', { filename, length });
	return { id: answer.file_id, url: answer.upload_url };
}

/** Sends the content as the body of a POST, without completing the upload. */
export async function uploaded(
	person: Person,
	filename: string,
	content: string | Uint8Array<ArrayBuffer>,
): Promise<Upload> {
	const upload = await reserved(person, filename, Buffer.byteLength(content));
	const response = await fetch(upload.url, { method: 'POST', body: content });
	if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
	return upload;
}

/** Uploads and completes; shares the file if a channel is given. Returns Slack's file object. */
export async function shared(
	person: Person,
	filename: string,
	content: string | Uint8Array<ArrayBuffer>,
	more: Readonly<Record<string, unknown>> = {},
	// biome-ignore lint/suspicious/noExplicitAny: as it is on the wire
): Promise<any> {
	const { id } = await uploaded(person, filename, content);
	const { files } = await person.call('files.completeUploadExternal', { files: [{ id }], ...more });
	return files[0];
}

export const download = (
	url: string,
	person: Pick<Person, 'token'> | null,
	headers: Readonly<Record<string, string>> = {},
	method = 'GET',
): Promise<Response> =>
	fetch(url, {
		method,
		headers: { ...headers, ...(person ? { authorization: `Bearer ${person.token}` } : {}) },
	});

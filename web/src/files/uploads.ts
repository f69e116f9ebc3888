import { ApiError, type TidemarkClient } from '@tidemark/client';
import { useSyncExternalStore } from 'react';
import { toWire } from '../composer/wire-text.ts';
import { loadEverybody } from '../session/load-everybody.ts';
import { fileSize } from '../ui/format.ts';
import { errorText } from '../ui/states.tsx';
import { hasChosen, placeOf } from './chosen.ts';
import { removeText, saveText } from './upload-texts.ts';

/**
 * Uploads the files of messages: progress, cancelling and retrying. A reload loses the files, so the browser asks the user first; the
 * text of the message becomes a draft again (upload-texts.ts).
 */

export interface Sending {
	readonly user: string;
	readonly channel: string;
	readonly threadTs?: string;
	readonly files: readonly File[];
	/** The text of the message. */
	readonly written: string;
}

export interface Upload extends Sending {
	readonly id: number;
	/** From 0 to 1. */
	readonly progress: number;
	/** Why the upload failed, as a text for the user; null while it runs. */
	readonly error: string | null;
	/** The ids of the uploaded files, which the server may have shared already; null until all are uploaded. */
	readonly uploaded: readonly string[] | null;
}

let uploads: readonly Upload[] = [];
let lastId = 0;
const stops = new Map<number, AbortController>();
const listeners = new Set<() => void>();

function set(next: readonly Upload[]): void {
	uploads = next;
	for (const listener of listeners) listener();
}

const change = (id: number, changes: Partial<Upload>): void =>
	set(uploads.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)));

function drop(id: number): void {
	set(uploads.filter((upload) => upload.id !== id));
	removeText(id);
}

export function startUpload(client: TidemarkClient, sending: Sending): void {
	lastId += 1;
	const upload: Upload = { ...sending, id: lastId, progress: 0, error: null, uploaded: null };
	saveText(upload.id, sending);
	set([...uploads, upload]);
	void run(client, upload);
}

export function retryUpload(client: TidemarkClient, upload: Upload): void {
	change(upload.id, { progress: 0, error: null });
	void run(client, upload);
}

/** Cancels a running upload, or discards a failed one. */
export function endUpload({ id }: Upload): void {
	stops.get(id)?.abort();
	drop(id);
}

async function run(client: TidemarkClient, upload: Upload): Promise<void> {
	const { id, channel, threadTs, written, files, uploaded } = upload;
	const stop = new AbortController();
	stops.set(id, stop);
	try {
		// The server does not turn names in these texts into mentions, so the page needs all users to do it.
		if (written.includes('@')) await loadEverybody(client);
		const { users, conversations } = client.getSnapshot();
		const comment = toWire(written, users, conversations.values());
		if (stop.signal.aborted) return;
		await client.uploadFiles(
			files.map((file) => ({ content: file, name: file.name })),
			{
				channel,
				comment,
				...(threadTs ? { threadTs } : {}),
				...(uploaded ? { uploaded } : {}),
				onUploaded: (ids) => change(id, { uploaded: ids }),
				signal: stop.signal,
				onProgress: (sent, total) => change(id, { progress: total > 0 ? sent / total : 1 }),
			},
		);
		drop(id);
	} catch (error) {
		if (stop.signal.aborted) return;
		change(id, { error: reasonOf(error, files) });
		// The server deletes files that are not shared in time. They have to be uploaded again.
		if (error instanceof ApiError && error.code === 'file_not_found') change(id, { uploaded: null });
	} finally {
		stops.delete(id);
	}
}

const LIMIT = /at most (\d+) bytes/;

function reasonOf(error: unknown, files: readonly File[]): string {
	if (!(error instanceof ApiError)) return 'The upload failed. Try again.';
	if (error.code === 'file_not_found')
		return 'The server no longer has the uploaded files. Try again to upload them.';
	if (error.code !== 'file_too_large') return errorText(error.code);
	const limit = Number(LIMIT.exec(error.details.join(' '))?.[1] ?? 0);
	const names = files.filter(({ size }) => size > limit).map(({ name }) => name);
	return limit > 0
		? `${names.join(', ')}: this server accepts files of at most ${fileSize(limit)}. Discard the message, and attach smaller files.`
		: errorText(error.code);
}

addEventListener('beforeunload', (event) => {
	if (hasChosen() || uploads.length > 0) event.preventDefault();
});

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

const latestLists = new Map<string, readonly Upload[]>();

/** Returns the same list until an upload in this place changes. */
function uploadsIn(place: string): readonly Upload[] {
	const now = uploads.filter(({ channel, threadTs }) => placeOf(channel, threadTs) === place);
	const before = latestLists.get(place) ?? NONE;
	if (now.length === before.length && now.every((upload, index) => upload === before[index])) return before;
	latestLists.set(place, now);
	return now;
}

const NONE: readonly Upload[] = [];

export const useUploads = (place: string): readonly Upload[] =>
	useSyncExternalStore(subscribe, () => uploadsIn(place));

import { ApiError, type TidemarkClient } from '@tidemark/client';
import { useSyncExternalStore } from 'react';
import { toWire } from '../composer/wire-text.ts';
import { everybody } from '../session/everybody.ts';
import { fileSize } from '../ui/format.ts';
import { sayError } from '../ui/states.tsx';
import { hasChosen, placeOf } from './chosen.ts';
import { dropText, keepText } from './upload-texts.ts';

/**
 * Messages with files that are being uploaded: progress, cancelling and retrying. Before a reload the page asks, because it loses the
 * files; their text becomes a draft again (upload-texts.ts).
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
	/** A sentence; null while the upload runs. */
	readonly error: string | null;
}

let uploads: readonly Upload[] = [];
let newest = 0;
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
	dropText(id);
}

export function startUpload(client: TidemarkClient, sending: Sending): void {
	newest += 1;
	const upload: Upload = { ...sending, id: newest, progress: 0, error: null };
	keepText(upload.id, sending);
	set([...uploads, upload]);
	void run(client, upload);
}

export function retryUpload(client: TidemarkClient, upload: Upload): void {
	change(upload.id, { progress: 0, error: null });
	void run(client, upload);
}

/** Cancels a running upload, or drops a failed one. */
export function endUpload({ id }: Upload): void {
	stops.get(id)?.abort();
	drop(id);
}

async function run(client: TidemarkClient, upload: Upload): Promise<void> {
	const { id, channel, threadTs, written, files } = upload;
	const stop = new AbortController();
	stops.set(id, stop);
	try {
		// The server does not link names in the texts of files, so their users must be known here.
		if (written.includes('@')) await everybody(client);
		const { users, conversations } = client.getSnapshot();
		const comment = toWire(written, users, conversations.values());
		if (stop.signal.aborted) return;
		await client.uploadFiles(
			files.map((file) => ({ content: file, name: file.name })),
			{
				channel,
				comment,
				...(threadTs ? { threadTs } : {}),
				signal: stop.signal,
				onProgress: (sent, total) => change(id, { progress: total > 0 ? sent / total : 1 }),
			},
		);
		drop(id);
	} catch (error) {
		if (!stop.signal.aborted) change(id, { error: reasonOf(error, files) });
	} finally {
		stops.delete(id);
	}
}

const LIMIT = /at most (\d+) bytes/;

function reasonOf(error: unknown, files: readonly File[]): string {
	if (!(error instanceof ApiError)) return 'The upload failed. Try again.';
	if (error.code !== 'file_too_large') return sayError(error.code);
	const limit = Number(LIMIT.exec(error.details.join(' '))?.[1] ?? 0);
	const names = files.filter(({ size }) => size > limit).map(({ name }) => name);
	return limit > 0
		? `${names.join(', ')}: larger than ${fileSize(limit)}, the limit of this server.`
		: sayError(error.code);
}

addEventListener('beforeunload', (event) => {
	if (hasChosen() || uploads.length > 0) event.preventDefault();
});

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

const shown = new Map<string, readonly Upload[]>();

/** The same list until an upload changes. */
function uploadsIn(place: string): readonly Upload[] {
	const now = uploads.filter(({ channel, threadTs }) => placeOf(channel, threadTs) === place);
	const before = shown.get(place) ?? NONE;
	if (now.length === before.length && now.every((upload, index) => upload === before[index])) return before;
	shown.set(place, now);
	return now;
}

const NONE: readonly Upload[] = [];

export const useUploads = (place: string): readonly Upload[] =>
	useSyncExternalStore(subscribe, () => uploadsIn(place));

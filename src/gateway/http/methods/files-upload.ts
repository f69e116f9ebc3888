import type { FileRecord } from '../../../engine/ports/files.ts';
import type { Conversation } from '../../../model/conversation.ts';
import { isInternalError, Rejection } from '../../../model/errors.ts';
import { fileTypeOf } from '../../../model/file-types.ts';
import { MAX_FILES } from '../../../model/files.ts';
import { newId } from '../../../model/ids.ts';
import { storable } from '../../../model/text.ts';
import { wireFile } from '../../../protocol/file-objects.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import { tokenKey } from '../../auth/tokens.ts';
import { filesOf, noFile } from '../../files/access.ts';
import { UPLOAD_PATH } from '../../files/uploads.ts';
import type { FileServices } from '../../services.ts';
import { joinedConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional, required, withDefault } from '../arguments.ts';
import { cutText } from '../message-content.ts';
import { type UserCall, userMethod } from '../method.ts';
import { originFor } from '../origin.ts';
import { postTarget } from '../post-target.ts';
import { submit } from '../submit.ts';
import { contentOf } from './chat.ts';

/**
 * Uploads of files: returns an address to upload to. Once the content is stored, posts the messages that share the files.
 */

const SECRET_BYTES = 32;
const MAX_UNFINISHED = 100;
const MAX_NAME_LENGTH = 255;
const MAX_ALT_TEXT_LENGTH = 1000;

/** The name is shown to other users and sent in headers. */
const cleaned = (name: string): string =>
	storable(name)
		.replace(/[\p{Cc}\p{Cf}/\\]+/gu, '_')
		.trim();

export const filesGetUploadURLExternal = userMethod({
	arguments: {
		filename: type.text({ max: MAX_NAME_LENGTH, takesEmpty: false }),
		length: type.count,
		alt_txt: optional(type.text({ max: MAX_ALT_TEXT_LENGTH })),
		snippet_type: optional(type.text({ max: 40 })),
	},
	run: async (args, { services, caller, request }) => {
		const { records, maxFileBytes, maxTeamBytes } = filesOf(services);
		const name = cleaned(args.filename) || 'file';
		if (args.length < 1) throw new Rejection('invalid_arguments', 'length: must be at least 1 byte');
		if (args.length > maxFileBytes)
			throw new Rejection('file_too_large', `length: at most ${maxFileBytes} bytes`);
		const id = newId('F', services.random);
		const secret = Buffer.from(services.random(SECRET_BYTES)).toString('base64url').replaceAll('-', '_');
		const file = {
			id,
			team: caller.team,
			user: caller.user.id,
			name,
			title: name,
			mimetype: args.snippet_type ? 'text/plain' : fileTypeOf(name).mimetype,
			altText: args.alt_txt ?? '',
			snippetType: args.snippet_type ?? '',
			size: args.length,
			createdTs: services.clock.next(),
			secret: tokenKey(secret),
		};
		const isReserved = await records.reserve(file, {
			teamBytes: maxTeamBytes,
			unfinished: MAX_UNFINISHED,
		});
		if (!isReserved)
			throw new Rejection(
				'storage_limit_reached',
				`a workspace may store at most ${maxTeamBytes} bytes, and a user may have ${MAX_UNFINISHED} unfinished uploads`,
			);
		const origin = originFor(request, services.publicUrl);
		return { upload_url: `${origin}${UPLOAD_PATH}${id}-${secret}`, file_id: id };
	},
});

interface Upload {
	readonly id: string;
	readonly title: string | null;
}

const uploads = required<readonly Upload[]>({
	expects: 'a JSON array of {"id": "F…", "title": "…"}',
	parse: (value, name) => {
		const found = type.objects({ bad: 'invalid_arguments', max: MAX_FILES, tooMany: 'too_many_files' });
		const items = found.parse(value, name);
		if (!items || items.length === 0) return undefined;
		const all = items.map(({ id, title }): Upload | undefined =>
			typeof id === 'string' ? { id, title: typeof title === 'string' ? title : null } : undefined,
		);
		return all.every((item) => item !== undefined) ? all : undefined;
	},
});

const MAX_CHANNELS = 10;

export const filesCompleteUploadExternal = userMethod({
	limited: 'posts',
	arguments: {
		files: uploads,
		channel_id: optional(type.target),
		channels: withDefault(type.texts(MAX_CHANNELS), []),
		thread_ts: optional(type.ts('thread_not_found')),
		initial_comment: optional(type.text()),
		blocks: type.objects({ bad: 'invalid_blocks_format', max: 50, tooMany: 'invalid_blocks_format' }),
	},
	ignored: ['highlight_type'],
	run: async (args, call) => {
		const services = filesOf(call.services);
		const files = await ownUploads(call, services, args.files);
		const places = await placesOf(call, [...(args.channel_id ? [args.channel_id] : []), ...args.channels]);
		if (args.thread_ts !== undefined && places.length !== 1)
			throw new Rejection('invalid_arguments', 'thread_ts: needs exactly one channel');
		const share = {
			comment: args.initial_comment ?? '',
			blocks: args.blocks,
			threadTs: args.thread_ts ?? null,
		};
		// Check before changing anything: if a message is too large, no file is completed.
		for (const place of places) messageOf(call, files, place, share);
		const titled = files.map(({ id, title }) => ({ id, title }));
		const channels = places.map(({ id }) => id);
		if (!(await services.records.complete(titled, channels))) throw noFile();
		await shareIn(call, services, files, places, share);
		for (const { id, object } of files) await services.contents.keepOnly(id, object);
		const isPublic = places.some(({ kind }) => kind === 'public');
		return { files: files.map((file) => wireFile(file, isPublic)) };
	},
});

/** The caller's uploads as they will be once completed. */
async function ownUploads(
	{ caller }: UserCall,
	{ records }: FileServices,
	wanted: readonly Upload[],
): Promise<readonly FileRecord[]> {
	const found = new Map((await records.get(wanted.map(({ id }) => id))).map((file) => [file.id, file]));
	return wanted.map(({ id, title }) => {
		const file = found.get(id);
		const isOwn = file?.team === caller.team && file.user === caller.user.id;
		if (!file || !isOwn || !['stored', 'complete'].includes(file.state)) throw noFile();
		return {
			...file,
			title:
				storable(title ?? '')
					.trim()
					.slice(0, MAX_NAME_LENGTH) || file.name,
		};
	});
}

async function placesOf(call: UserCall, targets: readonly string[]): Promise<readonly Conversation[]> {
	const places = new Map<string, Conversation>();
	for (const target of targets) {
		const conversation = await joinedConversation(call, await postTarget(call, target));
		if (conversation.archived) throw new Rejection('is_archived', 'channel_id: the conversation is archived');
		places.set(conversation.id, conversation);
	}
	return [...places.values()];
}

interface Share {
	readonly comment: string;
	readonly blocks: readonly JsonObject[] | undefined;
	readonly threadTs: number | null;
}

function messageOf(
	call: UserCall,
	files: readonly FileRecord[],
	{ kind }: Conversation,
	{ comment, blocks }: Share,
) {
	return contentOf(call, cutText(comment).text, {
		subtype: 'file_share',
		upload: false,
		files: files.map((file) => wireFile(file, kind === 'public')),
		blocks,
	});
}

/**
 * Posts a message that shares the files in each conversation. The `client_msg_id` is derived from the files, so a call that is
 * repeated after a lost answer posts nothing twice. If the first message is rejected, the completion is undone.
 */
async function shareIn(
	call: UserCall,
	{ records }: FileServices,
	files: readonly FileRecord[],
	places: readonly Conversation[],
	share: Share,
): Promise<void> {
	const clientMsgId = `file-${files.map(({ id }) => id).join('-')}`;
	for (const [index, place] of places.entries())
		try {
			await submit(call, place.id, {
				type: 'post',
				content: messageOf(call, files, place, share),
				threadTs: share.threadTs,
				broadcast: false,
				clientMsgId,
			});
		} catch (error) {
			const isCertain = !isInternalError(error) && (error as Rejection).code !== 'outcome_unknown';
			if (isCertain && index === 0) await undoCompletion(records, files, places);
			throw error;
		}
}

/** Undoes the completion, unless a concurrent call has shared the files. */
async function undoCompletion(
	records: FileServices['records'],
	files: readonly FileRecord[],
	places: readonly Conversation[],
): Promise<void> {
	const channels = places.map(({ id }) => id);
	for (const { id } of files) if ((await records.shares({ id, channels })).length > 0) return;
	await records.reopen(files.map(({ id }) => id));
}

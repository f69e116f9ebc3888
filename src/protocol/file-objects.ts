import type { FileRecord, FileShare } from '../engine/ports/files.ts';
import { fileTypeOf } from '../model/file-types.ts';
import { formatTs } from '../model/ts.ts';
import { ANY_ORIGIN } from './addresses.ts';
import type { JsonObject } from './objects.ts';

/**
 * Slack's file object. The message that shares a file contains the same object; `files.info` adds where it is
 * shared.
 */

export const CONTENT_PATH = '/files-pri/';

export const contentPath = ({ team, id, name }: Pick<FileRecord, 'team' | 'id' | 'name'>): string =>
	`${CONTENT_PATH}${team}-${id}/${pathName(name)}`;

export const downloadPath = ({ team, id, name }: Pick<FileRecord, 'team' | 'id' | 'name'>): string =>
	`${CONTENT_PATH}${team}-${id}/download/${pathName(name)}`;

/** Only for readability: the server ignores this part of the path. */
const pathName = (name: string): string =>
	encodeURIComponent(
		name
			.toLowerCase()
			.replace(/[^\p{L}\p{N}._-]+/gu, '_')
			.slice(0, 80)
			.toWellFormed(),
	) || 'file';

export function wireFile(file: FileRecord, isPublic: boolean): JsonObject {
	const { filetype, pretty } = fileTypeOf(file.name);
	const seconds = Math.floor(file.createdTs / 1e6);
	const link = `${ANY_ORIGIN}${contentPath(file)}`;
	return {
		id: file.id,
		created: seconds,
		timestamp: seconds,
		name: file.name,
		title: file.title,
		mimetype: file.mimetype,
		filetype: file.snippetType || filetype,
		pretty_type: pretty,
		user: file.user,
		user_team: file.team,
		editable: false,
		size: file.size,
		mode: file.snippetType === '' ? 'hosted' : 'snippet',
		is_external: false,
		external_type: '',
		is_public: isPublic,
		public_url_shared: false,
		display_as_bot: false,
		username: '',
		url_private: link,
		url_private_download: `${ANY_ORIGIN}${downloadPath(file)}`,
		permalink: link,
		file_access: 'visible',
		has_rich_preview: false,
		...(file.altText === '' ? {} : { alt_txt: file.altText }),
		...(file.width > 0 ? { original_w: file.width, original_h: file.height } : {}),
	};
}

const LISTED_AS = { public: 'channels', private: 'groups', im: 'ims', mpim: 'groups' } as const;

/** The conversations that a file is shared in, as far as the caller may see them. */
export function shareFields(team: string, shares: readonly FileShare[]): JsonObject {
	const lists: Record<'channels' | 'groups' | 'ims', Set<string>> = {
		channels: new Set(),
		groups: new Set(),
		ims: new Set(),
	};
	const details: Record<'public' | 'private', Record<string, JsonObject[]>> = { public: {}, private: {} };
	for (const { conversation, kind, name, ts, threadTs } of shares) {
		lists[LISTED_AS[kind]].add(conversation);
		const places = details[kind === 'public' ? 'public' : 'private'];
		const share = {
			ts: formatTs(ts),
			...(threadTs === null ? {} : { thread_ts: formatTs(threadTs) }),
			channel_name: name,
			team_id: team,
			reply_users: [],
			reply_users_count: 0,
			reply_count: 0,
		};
		places[conversation] = [...(places[conversation] ?? []), share];
	}
	return {
		channels: [...lists.channels],
		groups: [...lists.groups],
		ims: [...lists.ims],
		shares: {
			...(Object.keys(details.public).length > 0 ? { public: details.public } : {}),
			...(Object.keys(details.private).length > 0 ? { private: details.private } : {}),
		},
	};
}

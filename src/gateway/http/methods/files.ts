import { Rejection } from '../../../model/errors.ts';
import { formatTs } from '../../../model/ts.ts';
import { ANY_ORIGIN } from '../../../protocol/addresses.ts';
import { contentPath, downloadPath, shareFields, wireFile } from '../../../protocol/file-objects.ts';
import type { JsonObject } from '../../../protocol/objects.ts';
import {
	filesOf,
	readableShares,
	type VisibleFile,
	visibleFile,
	visibleFileOrNull,
} from '../../files/access.ts';
import { linkExpiry, linkQuery } from '../../files/links.ts';
import { leaveTombstones, removeContent } from '../../files/removal.ts';
import { readableConversation } from '../access.ts';
import * as type from '../argument-types.ts';
import { optional, withDefault } from '../arguments.ts';
import { costOfRows, type UserCall, userMethod } from '../method.ts';

/** Shows, lists and deletes files. */

const wireVisibleFile = ({ file, shares }: VisibleFile): JsonObject => ({
	...wireFile(
		file,
		shares.some(({ kind }) => kind === 'public'),
	),
	...shareFields(file.team, shares),
	comments_count: 0,
});

export const filesInfo = userMethod({
	arguments: { file: type.file },
	ignored: ['count', 'page', 'limit', 'cursor'],
	run: async (args, call) => ({
		file: wireVisibleFile(await visibleFile(call, args.file)),
		comments: [],
		response_metadata: { next_cursor: '' },
	}),
});

/** Slack's `types`, as patterns of media types. */
const PATTERNS: Readonly<Record<string, string>> = {
	images: 'image/%',
	pdfs: 'application/pdf',
	zips: 'application/zip',
	snippets: 'text/%',
};
/** A pattern that matches no media type. */
const NOTHING = '-';
const PAGE = 100;
const MAX_PAGE_SIZE = 200;
const COST = 10;

const seconds = optional(type.count);
/** Later times do not fit into the integers of the stores. */
const microsOf = (time: number): number => Math.min(time * 1e6, Number.MAX_SAFE_INTEGER);

export const filesList = userMethod({
	arguments: {
		channel: optional(type.channel),
		user: optional(type.user),
		ts_from: seconds,
		ts_to: seconds,
		types: withDefault(type.texts(20), []),
		count: withDefault(type.count, PAGE),
		page: withDefault(type.count, 1),
	},
	ignored: ['show_files_hidden_by_limit', 'limit', 'cursor'],
	cost: () => COST,
	run: async (args, call) => {
		const { services, caller } = call;
		const { records } = filesOf(services);
		if (args.channel !== undefined) await readableConversation(call, args.channel);
		const size = Math.max(1, Math.min(args.count || PAGE, MAX_PAGE_SIZE));
		const page = Math.max(1, Math.min(args.page, 1_000_000));
		const { files, total } = await records.list({
			team: caller.team,
			reader: caller.user.id,
			memberOnly: caller.user.isBot,
			user: args.user ?? null,
			conversation: args.channel ?? null,
			after: microsOf(args.ts_from ?? 0),
			before: microsOf(args.ts_to ?? Number.POSITIVE_INFINITY),
			types: args.types.includes('all') ? [] : args.types.map((name) => PATTERNS[name] ?? NOTHING),
			limit: size,
			offset: (page - 1) * size,
		});
		const shown: JsonObject[] = [];
		for (const file of files)
			shown.push(wireVisibleFile({ file, shares: await readableShares(call, await records.shares(file)) }));
		return { files: shown, paging: { count: size, total, page, pages: Math.ceil(total / size) } };
	},
});

export const filesDelete = userMethod({
	limited: 'posts',
	arguments: { file: type.file },
	run: async (args, call) => {
		const { services, caller } = call;
		const files = filesOf(services);
		const { file, shares } = await visibleFile(call, args.file);
		if (file.user !== caller.user.id)
			throw new Rejection('cant_delete_file', 'file: only the user who uploaded it can delete it');
		await files.records.beginDelete(file.id);
		await leaveTombstones(services, files, file);
		if (shares.length === 0) publishToOwner(call, file.id);
		// No user can read the file from here on; the sweeper retries what fails now.
		await removeContent(files, file).catch((error) => services.operations.failed('files.delete', error));
		return {};
	},
});

/** Only for files without shares: members of conversations get the changed messages. */
function publishToOwner({ services, caller }: UserCall, file: string): void {
	const frame = JSON.stringify({
		type: 'file_deleted',
		file_id: file,
		event_ts: formatTs(services.clock.last()),
	});
	services.bus.publish(`user:${caller.user.id}`, { type: 'event', frame });
}

const MAX_LINKS = 100;

/** A method that Slack does not have: returns addresses that need no token, for web pages that show files. */
export const filesGetLinks = userMethod({
	arguments: { files: type.texts(MAX_LINKS) },
	cost: ({ files }) => costOfRows(files.length * 10),
	run: async (args, call) => {
		const { services, caller } = call;
		const end = linkExpiry(Date.now());
		const links: JsonObject[] = [];
		for (const id of args.files) {
			const found = await visibleFileOrNull(call, id);
			if (!found) continue;
			const query = await linkQuery(services, found.file, caller.user.id, end);
			links.push({
				id,
				url: `${ANY_ORIGIN}${contentPath(found.file)}?${query}`,
				download_url: `${ANY_ORIGIN}${downloadPath(found.file)}?${query}`,
				expires: end,
			});
		}
		return { links };
	},
});

export const filesUpload = userMethod({
	arguments: {},
	run: async () => {
		throw new Rejection(
			'method_deprecated',
			'upload with files.getUploadURLExternal and files.completeUploadExternal (files_upload_v2 in Slack’s libraries)',
		);
	},
});

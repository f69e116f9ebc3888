import type { ApiCall } from '../../remote/api-client.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** Asks a running server to compare its counts with its store, and to repair them if requested. */

export interface CountsQuery {
	readonly user?: string | undefined;
	readonly channel?: string | undefined;
	readonly repair: boolean;
}

interface ReportedCounts {
	readonly unread_count: number;
	readonly mention_count: number;
	readonly badge_count: number;
}

interface Verified {
	readonly checked: number;
	readonly total: number;
	readonly response_metadata: { readonly next_cursor: string };
	readonly drifted: readonly {
		readonly user: string;
		readonly channel: string;
		readonly thread_ts?: string;
		readonly served: ReportedCounts;
		readonly stored: ReportedCounts;
		readonly repaired?: boolean;
		readonly reason?: string;
	}[];
}

const ABOUT = 'counts';

const FIXES: Readonly<Record<string, string>> = {
	store_behind:
		'The store may not have all changes yet; try again later. If the user marked and muted this conversation within a short time, this can take an hour',
	changing: 'The counts kept changing; try again when the conversation is quieter',
	still_differs: 'The counts differ even after reloading from the store: this is a bug, please report it',
	not_tried: 'Other repairs took all the time; run the command again',
};

/** For a user, compares all conversations page by page; for a channel alone, its first members. */
export async function countsFindings(
	call: ApiCall,
	{ user, channel, repair }: CountsQuery,
): Promise<Finding[]> {
	const wanted = {
		...(user === undefined ? {} : { user }),
		...(channel === undefined ? {} : { channel }),
		repair,
	};
	const pages: Verified[] = [];
	for (let cursor: string | undefined; cursor !== ''; ) {
		const page = await call<Verified>('admin.unreads.verify', cursor ? { ...wanted, cursor } : wanted);
		pages.push(page);
		cursor = user === undefined ? '' : page.response_metadata.next_cursor;
	}
	const checked = pages.reduce((sum, page) => sum + page.checked, 0);
	const drifted = pages.flatMap((page) => page.drifted);
	if (checked === 0 && user !== undefined && pages.some(({ total }) => total > 0))
		return [
			warn(
				ABOUT,
				'nothing was compared: every conversation is archived, changing or not in the store yet',
				'Try again in a moment',
			),
		];
	if (checked === 0)
		return [
			warn(
				ABOUT,
				'nothing was compared: there is no such member, or the conversation is archived or changing',
				'Check --user and --channel, or try again in a moment',
			),
		];
	return [
		ok(ABOUT, `${checked - drifted.length} of ${checked} match the store${leftOut(pages, user)}`),
		...drifted.map(judged),
	];
}

/** What was not compared, as a suffix of the first line. */
function leftOut(pages: readonly Verified[], user: string | undefined): string {
	const { total = 0, response_metadata } = pages.at(-1) ?? {};
	if (user === undefined)
		return response_metadata?.next_cursor ? `; not all ${total} members were compared` : '';
	const checked = pages.reduce((sum, page) => sum + page.checked, 0);
	return checked < total
		? `; ${total - checked} more were archived, changing or not in the store yet, and were not compared`
		: '';
}

function judged({ user, channel, thread_ts, served, stored, repaired, reason }: Verified['drifted'][number]) {
	const where = thread_ts === undefined ? channel : `${channel}, thread ${thread_ts}`;
	const found = `${user} in ${where}: ${shown(served)} served, ${shown(stored)} in the store`;
	if (repaired === true) return ok(ABOUT, `${found}; repaired`);
	if (repaired === false) return bad(ABOUT, `${found}; not repaired (${reason})`, FIXES[reason ?? ''] ?? '');
	return bad(ABOUT, found, 'Run the command again with --repair');
}

const shown = ({ unread_count, mention_count, badge_count }: ReportedCounts): string =>
	`${unread_count} unread, ${mention_count} mentions, ${badge_count} in the badge`;

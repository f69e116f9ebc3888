import { useClient, useSelected } from '@tidemark/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Folding } from '../message/Folding.tsx';
import { MessageBody } from '../message/MessageBody.tsx';
import { titledName, useConversationName, useUserName } from '../session/names.ts';
import { PersonAvatar } from '../session/PersonAvatar.tsx';
import { formatRoute, parseRoute, toConversation } from '../session/route.ts';
import { exactTime, plural, whenOf } from '../ui/format.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { type Match, type SearchResults, searchMessages } from './search-messages.ts';

interface Props {
	readonly query: string;
	/** Shown if nothing is found. */
	readonly nothing: { readonly title: string; readonly text: string };
	/** Whether to show the number of matches. */
	readonly isCounted?: boolean;
	/** Messages to leave out, by `matchKey`. */
	readonly without?: ReadonlySet<string>;
}

export const matchKey = (channel: string, ts: string): string => `${channel} ${ts}`;

const NONE: ReadonlySet<string> = new Set();

const NO_RESULTS: SearchResults = { total: 0, matches: [], page: 0, pages: 1 };

/** The messages that a search finds, newest first, a page at a time. */
export function Matches({ query, nothing, isCounted = true, without = NONE }: Props) {
	const client = useClient();
	const [found, setFound] = useState<SearchResults | null>(null);
	const [error, setError] = useState<string | null>(null);
	const lastSearch = useRef(0);
	const load = useCallback(
		async (before: SearchResults) => {
			lastSearch.current += 1;
			const search = lastSearch.current;
			// A slow search may be answered after a later one.
			const isLast = () => search === lastSearch.current;
			setError(null);
			try {
				const next = await searchMessages(client, query, before.page + 1);
				if (isLast()) setFound({ ...next, matches: [...before.matches, ...next.matches] });
			} catch (reason) {
				if (isLast()) setError((reason as { code?: string }).code ?? 'network_error');
			}
		},
		[client, query],
	);
	useEffect(() => {
		setFound(null);
		void load(NO_RESULTS);
	}, [load]);
	if (error) return <Failed error={error} onRetry={() => void load(found ?? NO_RESULTS)} />;
	if (!found) return <Loading lines={3} label="Searching" />;
	const shown = found.matches.filter(({ channel, ts }) => !without.has(matchKey(channel.id, ts)));
	if (shown.length === 0 && found.page >= found.pages)
		return (
			<Empty icon="search" title={nothing.title}>
				{nothing.text}
			</Empty>
		);
	return (
		<>
			{isCounted && (
				<p className="explained-sum" role="status">
					{plural(found.total, 'message')} found, newest first.
				</p>
			)}
			<ul className="explained">
				{shown.map((match) => (
					<MatchRow key={matchKey(match.channel.id, match.ts)} match={match} />
				))}
			</ul>
			{found.page < found.pages && (
				<p className="buttons centred">
					<button type="button" className="button" onClick={() => void load(found)}>
						Show more
					</button>
				</p>
			)}
		</>
	);
}

function MatchRow({ match }: { readonly match: Match }) {
	const { channel, user, ts, thread_ts: threadTs } = match;
	const author = useUserName(user);
	const conversation = useSelected(({ conversations }) => conversations.get(channel.id) ?? null);
	const name = useConversationName(conversation) || channel.name;
	const isReply = threadTs !== undefined && threadTs !== ts;
	const route = isReply
		? { ...parseRoute(location.hash), thread: { channel: channel.id, ts: threadTs } }
		: toConversation(channel.id, ts);
	return (
		<li>
			<PersonAvatar id={user} name={author} />
			<div className="inbox-main">
				<div className="inbox-top">
					<a className="explained-link" href={formatRoute(route)}>
						<strong dir="auto">{match.username || author || '…'}</strong>
					</a>
					<span className="hint">
						{conversation?.kind === 'im'
							? 'in a direct message'
							: `in ${conversation ? titledName(conversation, name) : `#${name}`}`}
					</span>
					<time title={exactTime(ts)} dateTime={ts}>
						{whenOf(ts)}
					</time>
				</div>
				<Folding className="message-text" text={match.text}>
					<MessageBody
						content={{
							text: match.text,
							blocks: match.blocks ?? null,
							attachments: match.attachments ?? null,
						}}
					/>
				</Folding>
			</div>
		</li>
	);
}

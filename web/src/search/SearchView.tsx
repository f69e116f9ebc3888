import { type FormEvent, useEffect, useRef, useState } from 'react';
import { go, toSearch } from '../session/route.ts';
import { PaneHead } from '../ui/PaneHead.tsx';
import { Empty } from '../ui/states.tsx';
import { Matches } from './Matches.tsx';

/** Searches messages. The address contains the query, so that the browser's back button returns to it. */
export function SearchView({ query }: { readonly query: string }) {
	const [written, setWritten] = useState(query);
	const box = useRef<HTMLInputElement>(null);
	useEffect(() => {
		setWritten(query);
		if (query === '') box.current?.focus();
	}, [query]);
	const submit = (event: FormEvent) => {
		event.preventDefault();
		if (written.trim() !== '') go(toSearch(written.trim()));
	};
	return (
		<main className="pane" aria-label="Search">
			<PaneHead title="Search" about="Messages in your conversations and in public channels" />
			<form className="search-form" onSubmit={submit}>
				<input
					ref={box}
					className="field"
					type="search"
					dir="auto"
					aria-label="Search messages"
					placeholder="ferry from:ada in:#harbour before:2026-06-01"
					value={written}
					onChange={({ target }) => setWritten(target.value)}
				/>
				<button type="submit" className="button primary" disabled={written.trim() === ''}>
					Search
				</button>
			</form>
			<div className="scroller padded">
				{query === '' ? (
					<Empty icon="search" title="Find a message">
						Type words or “a phrase in quotes”; -word excludes a word. Narrow the search with from:name,
						in:#channel, has:link, or before:, after: and on: with a date such as 2026-06-01.
					</Empty>
				) : (
					<Matches
						query={query}
						nothing={{
							title: 'No matches',
							text: 'Try fewer or other words, or the beginning of a word, such as ferr*. Without words, only recent messages are searched: add a word, in:#channel or a date.',
						}}
					/>
				)}
			</div>
		</main>
	);
}

/** Where one is, in the address: so that back, forward, reload and links work. */

export type Place = 'home' | 'inbox' | 'threads' | 'mentions' | 'search' | 'conversation';

export interface ThreadRef {
	readonly channel: string;
	readonly ts: string;
}

export interface Route {
	readonly place: Place;
	/** The conversation; empty for other places. */
	readonly id: string;
	/** A message to show. */
	readonly at: string | null;
	readonly thread: ThreadRef | null;
	/** What is searched for. */
	readonly query?: string;
}

const PLACES: readonly string[] = ['inbox', 'threads', 'mentions', 'search'] satisfies readonly Place[];

export function parseRoute(hash: string): Route {
	const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
	const [first = '', second = ''] = path.split('/');
	const values = new URLSearchParams(query);
	const [channel, ts] = (values.get('thread') ?? '').split(':');
	const thread = channel && ts ? { channel, ts } : null;
	const at = values.get('at');
	if (first === 'c' && second) return { place: 'conversation', id: second, at, thread };
	const place = PLACES.includes(first) ? (first as Place) : 'home';
	const words = values.get('q');
	return { place, id: '', at: null, thread, ...(words ? { query: words } : {}) };
}

export function formatRoute({ place, id, at, thread, query: words }: Route): string {
	const values = new URLSearchParams();
	if (words) values.set('q', words);
	if (at) values.set('at', at);
	if (thread) values.set('thread', `${thread.channel}:${thread.ts}`);
	const path = place === 'conversation' ? `c/${id}` : place === 'home' ? '' : place;
	const query = values.toString();
	return `#/${path}${query ? `?${query}` : ''}`;
}

const NOWHERE: Route = { place: 'home', id: '', at: null, thread: null };

export const toSearch = (query: string): Route => ({ ...NOWHERE, place: 'search', query });
export const toPlace = (place: Place): Route => ({ ...NOWHERE, place });
export const toConversation = (id: string, at: string | null = null): Route => ({
	...NOWHERE,
	place: 'conversation',
	id,
	at,
});

/** Encodes the current view in the address, so that back, forward, reload and links work. */

export type Screen = 'home' | 'inbox' | 'threads' | 'mentions' | 'search' | 'conversation';

export interface ThreadRef {
	readonly channel: string;
	readonly ts: string;
}

export interface Route {
	readonly screen: Screen;
	/** The conversation; empty on other screens. */
	readonly id: string;
	/** A message to show. */
	readonly at: string | null;
	readonly thread: ThreadRef | null;
	/** The search query. */
	readonly query?: string;
}

const SCREENS: readonly string[] = ['inbox', 'threads', 'mentions', 'search'] satisfies readonly Screen[];

export function parseRoute(hash: string): Route {
	const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
	const [first = '', second = ''] = path.split('/');
	const values = new URLSearchParams(query);
	const [channel, ts] = (values.get('thread') ?? '').split(':');
	const thread = channel && ts ? { channel, ts } : null;
	const at = values.get('at');
	if (first === 'c' && second) return { screen: 'conversation', id: second, at, thread };
	const screen = SCREENS.includes(first) ? (first as Screen) : 'home';
	const words = values.get('q');
	return { screen, id: '', at: null, thread, ...(words ? { query: words } : {}) };
}

export function formatRoute({ screen, id, at, thread, query: words }: Route): string {
	const values = new URLSearchParams();
	if (words) values.set('q', words);
	if (at) values.set('at', at);
	if (thread) values.set('thread', `${thread.channel}:${thread.ts}`);
	const path = screen === 'conversation' ? `c/${id}` : screen === 'home' ? '' : screen;
	const query = values.toString();
	return `#/${path}${query ? `?${query}` : ''}`;
}

const HOME: Route = { screen: 'home', id: '', at: null, thread: null };

export const toSearch = (query: string): Route => ({ ...HOME, screen: 'search', query });
export const toScreen = (screen: Screen): Route => ({ ...HOME, screen });
export const toConversation = (id: string, at: string | null = null): Route => ({
	...HOME,
	screen: 'conversation',
	id,
	at,
});

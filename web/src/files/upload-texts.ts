import { addToDraft } from '../composer/drafts.ts';

/**
 * Stores the texts of messages with files in the browser until the server has acknowledged the messages. Browsers cannot store the
 * files themselves, so a reload loses them; the texts become drafts again when the same tab loads the page.
 */

const PREFIX = 'tidemark.upload-text.';
const TAB = 'tidemark.tab';
/** After this time, any tab recovers the texts of a closed tab. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

interface Text {
	readonly user: string;
	readonly channel: string;
	readonly threadTs?: string;
	readonly written: string;
}

const randomId = (): string => crypto.getRandomValues(new Uint32Array(2)).join('-');

/** Survives a reload. A duplicated tab, and each frame of /devices, has the same id. */
function tab(): string {
	const known = sessionStorage.getItem(TAB);
	if (known !== null) return known;
	const made = randomId();
	sessionStorage.setItem(TAB, made);
	return made;
}

/** Makes keys unique, so that uploads of pages with the same tab id do not replace each other's texts. */
const PAGE = randomId();

const keyOf = (id: number): string => `${PREFIX}${tab()}.${PAGE}.${id}`;

export function saveText(id: number, { user, channel, threadTs, written }: Text): void {
	if (written === '') return;
	const stored = { user, channel, ...(threadTs ? { threadTs } : {}), written, at: Date.now() };
	try {
		localStorage.setItem(keyOf(id), JSON.stringify(stored));
	} catch {
		// The storage is full: a reload loses the text.
	}
}

export const removeText = (id: number): void => localStorage.removeItem(keyOf(id));

/**
 * Call once, before any draft is read. If the tab was duplicated during an upload, the text of that upload becomes a draft too: better
 * twice than lost.
 */
export function recoverTexts(): void {
	for (const key of Object.keys(localStorage)
		.filter((one) => one.startsWith(PREFIX))
		.sort()) {
		const stored = read(key);
		const isOurs = key.startsWith(`${PREFIX}${tab()}.`);
		if (stored && !isOurs && Date.now() - stored.at < ABANDONED_AFTER_MS) continue;
		if (stored) addToDraft(stored.user, stored.channel, stored.threadTs, stored.written);
		localStorage.removeItem(key);
	}
}

function read(key: string): (Text & { readonly at: number }) | null {
	try {
		return JSON.parse(localStorage.getItem(key) ?? 'null');
	} catch {
		return null;
	}
}

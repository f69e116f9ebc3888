import { fileURLToPath } from 'node:url';

/**
 * Bundles the web interface from web/ with Bun on the first request for one of its files: there is no build step,
 * and a server that only answers the API never bundles anything (docs/adr/0019-web-interface.md).
 */

export interface WebFile {
	readonly type: string;
	readonly bytes: Uint8Array<ArrayBuffer>;
	/** The name contains a hash of the content, so the file never changes. */
	readonly isImmutable: boolean;
}

/** By path. */
export type WebFiles = ReadonlyMap<string, WebFile>;

const WEB = new URL('../../../web/', import.meta.url);
const PAGES: Readonly<Record<string, string>> = {
	'/': 'index',
	'/admin': 'admin',
	'/devices': 'devices',
	'/ops': 'ops',
};
/** At the root, because a service worker controls only pages below its path. */
const WORKER = '/sw.js';
/** The page for unknown addresses. */
export const NOT_FOUND = '/not-found.html';
/** A fixed name: browsers request it when the page is installed. */
const ICON = '/icon.svg';
const ASSETS = 'assets/';

/**
 * Checked before bundling, so that API clients with a wrong path do not start it. For other paths, only
 * browsers start it, because the page for unknown addresses is part of the bundle.
 */
export const isWebPath = (path: string): boolean =>
	Object.hasOwn(PAGES, path) || [WORKER, ICON].includes(path) || path.startsWith(`/${ASSETS}`);

export async function bundleWeb(): Promise<WebFiles> {
	const built = await Promise.all([buildPages(), buildWorker()]);
	const files = new Map<string, WebFile>();
	for (const output of built.flatMap(({ outputs }) => outputs)) {
		const name = output.path.replace(/^\.?\//, '');
		const page = Object.keys(PAGES).find((path) => `${PAGES[path]}.html` === name);
		files.set(page ?? `/${name}`, {
			type: output.type,
			bytes: new Uint8Array(await output.arrayBuffer()),
			isImmutable: name.startsWith(ASSETS),
		});
	}
	const icon = Bun.file(place('icon.svg'));
	files.set(ICON, { type: icon.type, bytes: await icon.bytes(), isImmutable: false });
	return files;
}

const place = (file: string): string => fileURLToPath(new URL(file, WEB));

const buildPages = () =>
	build({
		entrypoints: [...Object.values(PAGES).map((page) => `${page}.html`), NOT_FOUND.slice(1)].map(place),
		splitting: true,
		define: { 'process.env.NODE_ENV': '"production"' },
		publicPath: '/',
		naming: {
			entry: '[name].[ext]',
			chunk: `${ASSETS}[name]-[hash].[ext]`,
			asset: `${ASSETS}[name]-[hash].[ext]`,
		},
	});

/** A single file without imports: browsers load it separately, and some support no modules there. */
const buildWorker = () => build({ entrypoints: [place('sw/sw.ts')], format: 'iife', naming: '[name].[ext]' });

const build = (what: Partial<Bun.BuildConfig> & Pick<Bun.BuildConfig, 'entrypoints'>) =>
	Bun.build({ target: 'browser', minify: true, ...what }).catch((error: unknown) => {
		// Bun's error has one cause per unreadable file, each with the whole file: report only the texts of the first three.
		const causes = error instanceof AggregateError ? error.errors : [error];
		throw new Error(`cannot bundle web/: ${causes.slice(0, 3).map(String).join('; ')}`);
	});

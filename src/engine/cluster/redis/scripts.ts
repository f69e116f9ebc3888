import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';

/**
 * Every change of several steps is one Lua script, in a file of its own: `lua/<name>-<number of keys>.lua`,
 * whose header names keys, arguments and result. What several of them do stands in `lua/include/<name>.lua`; a line
 * `-- include <name>` is where it belongs. Redis keeps scripts by their hash; they are sent whole only to a node that
 * does not know them yet.
 */

export const FILES = {
	apply: 'apply-2',
	claim: 'claim-1',
	delivered: 'delivered-1',
	endEpoch: 'end-epoch-1',
	loadConversation: 'load-conversation-2',
	loadThread: 'load-thread-2',
	loadUser: 'load-user-2',
	nameMarker: 'name-marker-1',
	pendUnlessLoaded: 'pend-unless-loaded-2',
	publishOwned: 'publish-1',
	sessions: 'sessions-2',
	setIfUnchanged: 'set-if-unchanged-2',
	trim: 'trim-2',
	userView: 'user-view-2',
	views: 'views-1',
} as const;

type Argument = string | number;

export type Scripts = {
	readonly [Name in keyof typeof FILES]: (...keysAndArguments: readonly Argument[]) => Promise<unknown>;
};

export function defineScripts<Client extends Redis | Cluster>(client: Client): Client & Scripts {
	for (const [name, file] of Object.entries(FILES)) {
		client.defineCommand(name, {
			lua: scriptIn(file),
			numberOfKeys: Number(file.slice(file.lastIndexOf('-') + 1)),
		});
	}
	return client as Client & Scripts;
}

/** Of a command as it is sent first, by its hash. */
export const isPublication = ({ name, args }: { name: string; args: readonly unknown[] }): boolean =>
	name === 'spublish' || args[0] === PUBLISH_SHA;

const INCLUDE = /^-- include (\S+)$/gm;

/** Written otherwise, it would be a remark, and what it stands for missing. */
const ALMOST_INCLUDE = /^\s*--\s*include\b.*$/m;

/** Its whole text. */
export function scriptIn(file: string): string {
	const script = read(file).replace(INCLUDE, (_, name) => read(`include/${name}`));
	const [left] = ALMOST_INCLUDE.exec(script) ?? [];
	if (left !== undefined) throw new Error(`${file}.lua: "${left}" is not "-- include NAME"`);
	return script;
}

const read = (file: string): string => readFileSync(new URL(`lua/${file}.lua`, import.meta.url), 'utf8');

const PUBLISH_SHA = createHash('sha1').update(scriptIn(FILES.publishOwned)).digest('hex');

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';

/**
 * Every operation of several steps is one Lua script in its own file, `lua/<name>-<number of keys>.lua`,
 * whose header names keys, arguments and result. Shared parts are in `lua/include/<name>.lua`; a line
 * `-- include <name>` inserts one. Redis caches scripts by their hash; the full text is only sent to a node that
 * does not have it.
 */

export const FILES = {
	apply: 'apply-3',
	claim: 'claim-1',
	published: 'published-1',
	endEpoch: 'end-epoch-1',
	recordConversation: 'record-conversation-3',
	nameMarker: 'name-marker-1',
	presence: 'presence-2',
	publishOwned: 'publish-1',
	setUser: 'set-user-2',
	userChanges: 'user-changes-2',
	versions: 'versions-1',
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

/** Whether a command publishes: `spublish`, or the script publish-1.lua, which the client sends by its hash first. */
export const isPublication = ({ name, args }: { name: string; args: readonly unknown[] }): boolean =>
	name === 'spublish' || args[0] === PUBLISH_SHA;

const INCLUDE = /^-- include (\S+)$/gm;

/** A misspelt include would be an ordinary comment, and its content missing. */
const ALMOST_INCLUDE = /^\s*--\s*include\b.*$/m;

/** The complete text of a script. */
export function scriptIn(file: string): string {
	const script = read(file).replace(INCLUDE, (_, name) => read(`include/${name}`));
	const [left] = ALMOST_INCLUDE.exec(script) ?? [];
	if (left !== undefined) throw new Error(`${file}.lua: "${left}" is not "-- include NAME"`);
	return script;
}

const read = (file: string): string => readFileSync(new URL(`lua/${file}.lua`, import.meta.url), 'utf8');

const PUBLISH_SHA = createHash('sha1').update(scriptIn(FILES.publishOwned)).digest('hex');

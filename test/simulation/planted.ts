import { readFileSync } from 'node:fs';
import { plugin } from 'bun';
import type { ShapeName } from './simulate.ts';

/**
 * Bugs of the kind that real systems have. Each is planted by changing one place of the real code while it is loaded. The simulation should
 * find each of them; docs/simulation.md lists those that it has not found yet.
 */

export interface PlantedBug {
	readonly file: string;
	/** The file must have this text once. Otherwise planting fails: a bug that is not planted cannot be found. */
	readonly find: string;
	readonly replace: string;
	/** The shape that has this code; absent: both have it. */
	readonly shape?: ShapeName;
}

export const PLANTED: Readonly<Record<string, PlantedBug>> = {
	'skips a persist': {
		file: 'src/worker/persist-first.ts',
		find: 'ledger.commit([...effects, ...moved])',
		replace: 'ledger.commit([...effects])',
		shape: 'embedded',
	},
	'acknowledges before it is durable': {
		file: 'src/worker/persist-first.ts',
		find: 'const published = durable.then(',
		replace: 'durable.catch(() => undefined);\n\t\tconst published = Promise.resolve().then(',
		shape: 'embedded',
	},
	'applies effects twice': {
		file: 'src/worker/persist-first.ts',
		find: 'return views.apply(effects, ledger.durable(), (moved) =>',
		replace:
			'await views.apply(effects, 0, () => undefined);\n\t\treturn views.apply(effects, ledger.durable(), (moved) =>',
		shape: 'embedded',
	},
	'acknowledges a mark before it is durable': {
		file: 'src/engine/embedded/read-state/memory-views.ts',
		find: 'return { decided, shown, durable };',
		replace: 'durable.catch(() => undefined);\n\t\t\treturn { decided, shown, durable: Promise.resolve() };',
		shape: 'embedded',
	},
	'drops the check of revisions': {
		file: 'src/model/cursor.ts',
		find: 'if (outdated) return',
		replace: 'if (outdated && cursor.revision > 1_000) return',
	},
	'reuses a stamp after a clock step': {
		file: 'src/model/ts.ts',
		find: 'last = Math.max(nowMicros(), last + 1);',
		replace: 'last = Math.floor(nowMicros());',
	},
	'iterates a live list while closing': {
		file: 'src/gateway/socket/hub.ts',
		find: '\t\t\t\tconnection.send(hasAddress ?',
		replace:
			"\t\t\t\tif (connection.bufferedBytes > 0) connection.close('too_slow');\n" +
			'\t\t\t\telse connection.send(hasAddress ?',
	},
	'evicts during a commit': {
		file: 'src/engine/embedded/read-state/residents.ts',
		find: 'if (stamp > this.ledger.durable() ||',
		replace: 'if (',
		shape: 'embedded',
	},
	'evicts a membership during its commit': {
		file: 'src/engine/embedded/read-state/residents.ts',
		find: 'if (newestChange > this.ledger.durable() ||',
		replace: 'if (',
		shape: 'embedded',
	},
	'keeps state in memory after its commit failed': {
		file: 'src/app/engine.ts',
		find: 'residents.clear();',
		replace: '',
		shape: 'embedded',
	},
	'writes changes that were decided after a failed batch': {
		file: 'src/engine/store/group-commit.ts',
		find: '[batch, ...this.queue.splice(0)]',
		replace: '[batch]',
		shape: 'embedded',
	},
	'decides on state from before a failed commit': {
		file: 'src/worker/partition.ts',
		find: 'this.parts.conversations.clear();',
		replace: '',
		shape: 'embedded',
	},
	'resumes from a position that is too late': {
		file: 'src/gateway/socket/session.ts',
		find: 'services.sync.missed(connection.user, since,',
		replace: 'services.sync.missed(connection.user, since && since + 300_000,',
	},
	'does not recognise repeated sends': {
		file: 'src/sequencer/decide-messages.ts',
		find: 'if (clientMsgId === null) return undefined;',
		replace: 'if (clientMsgId !== undefined) return undefined;',
	},
	'retries a send with another client_msg_id': {
		file: 'client/src/outbox.ts',
		find: "const answer = await api.callOnce('chat.postMessage', sending.args);",
		replace:
			'const client_msg_id = sending.attempts > 1 ? this.freshId() : sending.args.client_msg_id;\n' +
			"\t\t\tconst answer = await api.callOnce('chat.postMessage', { ...sending.args, client_msg_id });",
	},
	'clears Redis without stopping the worker': {
		file: 'src/engine/cluster/recovery.ts',
		find: 'await this.useLockUntil(worker.halt());',
		replace: '',
		shape: 'cluster',
	},
	'takes absent state for unchanged after its epoch has ended': {
		file: 'src/engine/cluster/redis/lua/include/only-in-epoch.lua',
		find: "if ARGV[1] ~= ''",
		replace: "if ARGV[1] == 'never'",
		shape: 'cluster',
	},
	'lets a zombie write to its former partition': {
		file: 'src/engine/cluster/postgres/progress.ts',
		find: 'if (moved !== 1) throw',
		replace: 'if (moved === undefined) throw',
		shape: 'cluster',
	},
	'uses a copy of a user without comparing stamps': {
		file: 'src/engine/cluster/redis/read-state/user-copies.ts',
		find: '\t\t\tconst { version } = copy;',
		replace: '\t\t\tif (copy.version !== STORED) return copy;\n\t\t\tconst { version } = copy;',
		shape: 'cluster',
	},
	'keeps sockets open after a gap on the bus': {
		file: 'src/engine/cluster/redis/bus.ts',
		find: 'this.hooks.onGap();',
		replace: '',
		shape: 'cluster',
	},
	'waits forever for a lost reply': {
		file: 'src/gateway/requests.ts',
		find: 'const waiting = this.end(request);\n\t\tconst reason',
		replace:
			'const waiting = undefined as Waiting | undefined;\n\t\tif (request < 0) this.end(request);\n\t\tconst reason',
		shape: 'cluster',
	},
	'does not record which fields of a user changed': {
		file: 'src/engine/cluster/redis/lua/set-user-2.lua',
		find: "redis.call('ZADD', KEYS[2], newer, field)",
		replace: '',
		shape: 'cluster',
	},
	'acknowledges a mark that neither log nor store has': {
		file: 'src/engine/cluster/mark-ledger.ts',
		find: 'return done.promise;',
		replace: 'done.promise.catch(() => undefined);\n\t\treturn Promise.resolve();',
		shape: 'cluster',
	},
	'leaves the cursor of an author whose post was not applied': {
		file: 'src/worker/persist-behind.ts',
		find: 'isUnapplied: moved === null',
		replace: 'isUnapplied: false',
		shape: 'cluster',
	},
	'uses rows of the store without the changes that they lack': {
		file: 'src/engine/read-state/conversation.ts',
		find: 'for (const { change } of this.kept) {',
		replace: 'for (const { change } of [] as KeptChange[]) {',
	},
	'uses a copy that is older than rows of the store': {
		file: 'src/engine/cluster/redis/read-state/conversation-copy.ts',
		find: 'this.isLoaded = true;\n\t\tthis.mayHaveNewerRows = true;',
		replace: 'this.isLoaded = true;',
		shape: 'cluster',
	},
	'reads the last batch of a partition again': {
		file: 'src/engine/cluster/postgres/progress.ts',
		find: 'SET next_offset = $3, topic_id',
		replace: 'SET next_offset = $2, topic_id',
		shape: 'cluster',
	},
	'leaves the notification of a message that was read': {
		file: 'src/push/decide.ts',
		find: 'message.deleted || recipient.read || reasonOf',
		replace: 'message.deleted || reasonOf',
	},
	'marks messages that the device in focus has not confirmed': {
		file: 'src/gateway/socket/focus.ts',
		find: 'this.receipts.delivered(connection, { conversation, ts, revision });',
		replace: 'this.confirmed(connection, [{ conversation, ts, revision }]);',
	},
	'marks nothing in focus': {
		file: 'src/gateway/socket/focus.ts',
		find: '\t\t\tthis.marks.add(',
		replace: '\t\t\tif (revision === -1) this.marks.add(',
	},
	'sends live events while a client resumes': {
		file: 'src/gateway/socket/session.ts',
		find: 'this.connection.hold();',
		replace: '',
	},
};

const ROOT = new URL('../../', import.meta.url).pathname;
const SCRIPTS = 'src/engine/cluster/redis/scripts.ts';
const READ = '(_, name) => read(`include/$' + '{name}`))';

/** Lua scripts are not modules, so the bug changes the code that reads them. */
const inScripts = ({ find, replace }: PlantedBug): PlantedBug => ({
	file: SCRIPTS,
	find: READ,
	replace: `${READ}.replace(${JSON.stringify(find)}, () => ${JSON.stringify(replace)})`,
});

/** Throws unless the file has this text, once. */
function sourceWith(file: string, text: string): string {
	const source = readFileSync(ROOT + file, 'utf8');
	if (source.split(text).length !== 2)
		throw new Error(`cannot be planted: ${file} does not have "${text}" once`);
	return source;
}

/** The source of a file with the bug. Throws if the code has changed, so that the bug cannot be planted. */
export function sourceWithBug(name: string): { readonly file: string; readonly contents: string } {
	const bug = PLANTED[name];
	if (!bug) throw new Error(`no such bug: ${name}`);
	const { file, find, replace } = bug.file.endsWith('.lua') ? inScripts(bug) : bug;
	sourceWith(bug.file, bug.find);
	return { file, contents: sourceWith(file, find).replace(find, () => replace) };
}

/** Call it before the code that contains the bug is loaded. */
export function plant(name: string): void {
	const { file, contents } = sourceWithBug(name);
	const filter = new RegExp(`${file.replaceAll('.', '\\.')}$`);
	plugin({
		name: 'planted bug',
		setup: (build) => {
			build.onLoad({ filter }, () => ({ contents, loader: 'ts' }));
		},
	});
}

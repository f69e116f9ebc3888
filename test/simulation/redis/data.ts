import { createHash } from 'node:crypto';
import { FILES, scriptIn } from '../../../src/engine/cluster/redis/scripts.ts';
import { type Script, translate } from './lua.ts';
import { LuaError, Table, type Value } from './lua-values.ts';

/**
 * The data of one Redis server: keys, the commands that Tidemark uses, and its real scripts. Each command and script runs atomically. Keys
 * expire by the simulated clock.
 */

export type Reply = string | number | null | readonly Reply[];

type Stored =
	| { readonly type: 'string'; value: string }
	| { readonly type: 'hash'; readonly value: Map<string, string> }
	| { readonly type: 'list'; readonly value: string[] }
	| { readonly type: 'set'; readonly value: Set<string> }
	/** The score of each member. */
	| { readonly type: 'zset'; readonly value: Map<string, number> };

type Kinds = { [Kind in Stored['type']]: Extract<Stored, { type: Kind }>['value'] };

export class ReplyError extends Error {}

const scripts = new Map<string, { readonly run: Script; readonly keys: number }>();

function scriptNamed(name: string): { readonly run: Script; readonly keys: number } | undefined {
	const file = (FILES as Readonly<Record<string, string>>)[name];
	if (file === undefined) return undefined;
	let script = scripts.get(name);
	if (!script) {
		script = { run: translate(scriptIn(file)), keys: Number(file.slice(file.lastIndexOf('-') + 1)) };
		scripts.set(name, script);
	}
	return script;
}

export const isScript = (name: string): boolean => name in FILES;

export interface SavedKeys {
	readonly keys: ReadonlyMap<string, Stored>;
	readonly expires: ReadonlyMap<string, number>;
}

export class RedisData {
	private readonly keys = new Map<string, Stored>();
	private readonly expires = new Map<string, number>();
	private readonly redis: Table;

	constructor(
		private readonly nowMs: () => number,
		/** Returns the number of subscribers. */
		private readonly publish: (channel: string, text: string) => number,
	) {
		this.redis = new Table();
		this.redis.set('call', (name, ...args) => [
			toLua(this.command(String(name).toLowerCase(), args.map(String))),
		]);
		this.redis.set('error_reply', (text) => [errorTable(text)]);
		this.redis.set('sha1hex', (text) => [createHash('sha1').update(String(text)).digest('hex')]);
	}

	copy(): SavedKeys {
		return { keys: structuredClone(this.keys), expires: new Map(this.expires) };
	}

	restore(saved: SavedKeys): void {
		for (const [key, stored] of structuredClone(saved.keys)) this.keys.set(key, stored);
		for (const [key, at] of saved.expires) this.expires.set(key, at);
	}

	run(name: string, args: readonly string[]): Reply {
		const script = scriptNamed(name);
		if (!script) return this.command(name, args);
		try {
			return fromLua(script.run(args.slice(0, script.keys), args.slice(script.keys), this.redis));
		} catch (error) {
			if (error instanceof LuaError && error.value instanceof Table && error.value.get('err') !== undefined)
				throw new ReplyError(String(error.value.get('err')));
			throw error;
		}
	}

	private stored<Kind extends Stored['type']>(type: Kind, key: string): Kinds[Kind] | undefined {
		const end = this.expires.get(key);
		if (end !== undefined && end <= this.nowMs()) this.remove(key);
		const stored = this.keys.get(key);
		if (stored && stored.type !== type) throw new ReplyError(`WRONGTYPE of ${key}`);
		return stored?.value as Kinds[Kind] | undefined;
	}

	private made<Kind extends Stored['type']>(type: Kind, key: string, fresh: Kinds[Kind]): Kinds[Kind] {
		const known = this.stored(type, key);
		if (known !== undefined) return known;
		this.keys.set(key, { type, value: fresh } as Stored);
		return fresh;
	}

	private remove(key: string): boolean {
		this.expires.delete(key);
		return this.keys.delete(key);
	}

	private exists(key: string): boolean {
		if (!this.keys.has(key)) return false;
		const end = this.expires.get(key);
		if (end === undefined || end > this.nowMs()) return true;
		this.remove(key);
		return false;
	}

	private expire(key: string, ms: number): number {
		if (!this.exists(key)) return 0;
		this.expires.set(key, this.nowMs() + ms);
		return 1;
	}

	/** Redis removes a key whose collection becomes empty. */
	private dropEmpty(key: string, size: number): void {
		if (size === 0) this.remove(key);
	}

	private members(key: string): [member: string, score: number][] {
		return [...(this.stored('zset', key) ?? [])].sort(
			([a, scoreA], [b, scoreB]) => scoreA - scoreB || (a < b ? -1 : 1),
		);
	}

	private ranked(all: [string, number][], from: string, to: string, scores: boolean): Reply {
		const place = (text: string): number => (Number(text) < 0 ? all.length + Number(text) : Number(text));
		return all
			.slice(place(from), place(to) + 1)
			.flatMap(([member, score]) => (scores ? [member, String(score)] : [member]));
	}

	private within(key: string, least: string, most: string): [string, number][] {
		return this.members(key).filter(([, score]) => isAtLeast(score, least) && isAtMost(score, most));
	}

	private command(name: string, args: readonly string[]): Reply {
		const [key = '', ...rest] = args;
		switch (name) {
			case 'ping':
				return 'PONG';
			case 'time': {
				const micros = Math.floor(this.nowMs() * 1000);
				return [String(Math.floor(micros / 1e6)), String(micros % 1e6)];
			}
			case 'get':
				return this.stored('string', key) ?? null;
			case 'mget':
				return args.map((name) => this.stored('string', name) ?? null);
			case 'set':
				return this.set(key, rest);
			case 'getdel': {
				const value = this.stored('string', key) ?? null;
				this.remove(key);
				return value;
			}
			case 'del':
			case 'unlink':
				return args.filter((one) => this.exists(one) && this.remove(one)).length;
			case 'exists':
				return args.filter((one) => this.exists(one)).length;
			case 'expire':
				return this.expire(key, Number(rest[0]) * 1000);
			case 'pexpire':
				return this.expire(key, Number(rest[0]));
			case 'spublish':
				return this.publish(key, rest[0] as string);
			case 'scan':
				return ['0', [...this.keys.keys()].filter((one) => this.exists(one))];
			case 'sadd': {
				const set = this.made('set', key, new Set());
				const before = set.size;
				for (const member of rest) set.add(member);
				return set.size - before;
			}
			case 'srem': {
				const set = this.stored('set', key);
				const removed = rest.filter((member) => set?.delete(member)).length;
				if (set) this.dropEmpty(key, set.size);
				return removed;
			}
			case 'smembers':
				return [...(this.stored('set', key) ?? [])];
			case 'rpush': {
				const list = this.made('list', key, []);
				list.push(...rest);
				return list.length;
			}
			case 'llen':
				return this.stored('list', key)?.length ?? 0;
			case 'lrange':
				return [...(this.stored('list', key) ?? [])];
			default:
				return name.startsWith('h') ? this.hash(name, key, rest) : this.sorted(name, key, rest);
		}
	}

	private set(key: string, [value = '', ...options]: readonly string[]): Reply {
		if (options.includes('NX') && this.exists(key)) return null;
		this.keys.set(key, { type: 'string', value });
		this.expires.delete(key);
		for (const [index, option] of options.entries()) {
			if (option === 'EX') this.expire(key, Number(options[index + 1]) * 1000);
			if (option === 'PX') this.expire(key, Number(options[index + 1]));
		}
		return 'OK';
	}

	private hash(name: string, key: string, rest: readonly string[]): Reply {
		const hash = this.stored('hash', key);
		const [field = ''] = rest;
		switch (name) {
			case 'hget':
				return hash?.get(field) ?? null;
			case 'hmget':
				return rest.map((one) => hash?.get(one) ?? null);
			case 'hgetall':
				return [...(hash ?? [])].flat();
			case 'hkeys':
				return [...(hash?.keys() ?? [])];
			case 'hlen':
				return hash?.size ?? 0;
			case 'hstrlen':
				return hash?.get(field)?.length ?? 0;
			case 'hscan':
				return ['0', [...(hash ?? [])].flat()];
			case 'hset': {
				const made = this.made('hash', key, new Map());
				const before = made.size;
				for (let index = 0; index + 1 < rest.length; index += 2)
					made.set(rest[index] as string, rest[index + 1] as string);
				return made.size - before;
			}
			case 'hdel': {
				const removed = rest.filter((one) => hash?.delete(one)).length;
				if (hash) this.dropEmpty(key, hash.size);
				return removed;
			}
			default:
				throw new Error(`the simulated Redis has no ${name}`);
		}
	}

	private sorted(name: string, key: string, rest: readonly string[]): Reply {
		const [first = '', second = ''] = rest;
		switch (name) {
			case 'zadd': {
				const set = this.made('zset', key, new Map());
				const before = set.size;
				set.set(second, Number(first));
				return set.size - before;
			}
			case 'zrem': {
				const set = this.stored('zset', key);
				const removed = rest.filter((member) => set?.delete(member)).length;
				if (set) this.dropEmpty(key, set.size);
				return removed;
			}
			case 'zcard':
				return this.stored('zset', key)?.size ?? 0;
			case 'zcount':
				return this.within(key, first, second).length;
			case 'zrange':
				return this.ranked(this.members(key), first, second, rest.includes('WITHSCORES'));
			case 'zrevrange':
				return this.ranked(this.members(key).reverse(), first, second, rest.includes('WITHSCORES'));
			case 'zrangebyscore':
				return this.within(key, first, second).map(([member]) => member);
			case 'zremrangebyscore': {
				const set = this.stored('zset', key);
				const gone = this.within(key, first, second);
				for (const [member] of gone) set?.delete(member);
				if (set) this.dropEmpty(key, set.size);
				return gone.length;
			}
			default:
				throw new Error(`the simulated Redis has no ${name}`);
		}
	}
}

const bound = (text: string): number =>
	text === '-inf' ? Number.NEGATIVE_INFINITY : text === '+inf' ? Number.POSITIVE_INFINITY : Number(text);
const isAtLeast = (score: number, text: string): boolean =>
	text.startsWith('(') ? score > bound(text.slice(1)) : score >= bound(text);
const isAtMost = (score: number, text: string): boolean =>
	text.startsWith('(') ? score < bound(text.slice(1)) : score <= bound(text);

function errorTable(text: Value): Table {
	const table = new Table();
	table.set('err', text);
	return table;
}

const toLua = (reply: Reply): Value =>
	reply === null ? false : Array.isArray(reply) ? Table.of(reply.map(toLua)) : (reply as string | number);

function fromLua(value: Value): Reply {
	if (value instanceof Table) {
		const error = value.get('err');
		if (error !== undefined) throw new ReplyError(String(error));
		return value.list.slice(1).map(fromLua);
	}
	if (typeof value === 'number') return Math.trunc(value);
	if (typeof value === 'string') return value;
	return value === true ? 1 : null;
}

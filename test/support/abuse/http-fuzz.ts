import { METHODS } from '../../../src/gateway/http/methods/index.ts';
import type { Random } from '../oracle/random.ts';
import type { Person } from '../people.ts';
import { ADMIN_TOKEN } from '../server.ts';
import type { Cast, Ids } from './cast.ts';
import { inspect } from './findings.ts';
import { junkBytes, junkJson, junkText } from './junk.ts';

/**
 * Calls every method with arguments of any type, in every encoding, and with ids of another workspace. Attackers call
 * all methods; the administrator's methods are also called with the administrator's token, in a separate workspace.
 */

export interface FuzzedHttp {
	requests: number;
	/** How often each error was returned; `ok` counts successful calls. */
	readonly errors: Map<string, number>;
}

const AT_ONCE = 16;
/** The method that revokes the token it is called with. */
const ENDS_TOKEN = 'auth.revoke';
/** Lists every workspace to the administrator, so its answer may contain the canary. */
const LISTS_WORKSPACES = 'admin.teams.list';
const AS_ADMIN = Object.keys(METHODS).filter(
	(name) => name.startsWith('admin.') && name !== LISTS_WORKSPACES,
);

export async function fuzzHttp(
	url: string,
	cast: Cast,
	random: Random,
	requests: number,
): Promise<FuzzedHttp> {
	const done: FuzzedHttp = { requests: 0, errors: new Map() };
	const names = Object.keys(METHODS);
	const one = async (): Promise<void> => {
		while (done.requests < requests) {
			const isAdmin = random.chance(0.1);
			// In turn, so that every method is called.
			const name = isAdmin
				? (random.pick(AS_ADMIN) as string)
				: (names[done.requests % names.length] as string);
			done.requests += 1;
			const request = isAdmin
				? adminRequest(cast, name, random)
				: strangersRequest(cast, name, random, await tokenFor(cast, name, random));
			const response = await fetch(`${url}/api/${name}${request.query}`, request.init);
			const text = await response.text();
			inspect(name, JSON.stringify(request), text, response.status);
			const error = /"error":"(\w+)"/.exec(text)?.[1] ?? (text.includes('"ok":true') ? 'ok' : 'other');
			done.errors.set(error, (done.errors.get(error) ?? 0) + 1);
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, one));
	return done;
}

interface FuzzRequest {
	readonly query: string;
	readonly init: RequestInit;
}

async function tokenFor({ admin, strangers }: Cast, name: string, random: Random): Promise<string> {
	// The last attacker is left for the socket fuzzer.
	const { id, token } = strangers[random.below(strangers.length - 1)] as Person;
	return name === ENDS_TOKEN ? (await admin('admin.tokens.create', { user_id: id })).token : token;
}

function strangersRequest(cast: Cast, name: string, random: Random, token: string): FuzzRequest {
	const ids = random.chance(0.5) ? cast.foreign : cast.own;
	const isCareful = random.chance(0.5);
	return requestOf(token, argumentsOf(name, ids, isCareful, random), isCareful, random);
}

function adminRequest({ playground }: Cast, name: string, random: Random): FuzzRequest {
	const users = playground.people.map(({ id }) => id);
	const ids = { channels: ['C00000000'], users, messages: [], teams: [playground.team] };
	const isCareful = random.chance(0.5);
	return requestOf(ADMIN_TOKEN, argumentsOf(name, ids, isCareful, random), isCareful, random);
}

/** Arguments by name, as JSON. Careful arguments have the expected type, so that calls get past the first check. */
function argumentsOf(name: string, ids: Ids, isCareful: boolean, random: Random): Map<string, string> {
	const values = new Map<string, string>();
	for (const [argument, { required }] of Object.entries(METHODS[name]?.schema ?? {})) {
		if (isCareful ? !required && random.chance(0.8) : random.chance(0.25)) continue;
		const value = isCareful || random.chance(0.6) ? plausible(argument, ids, random) : undefined;
		values.set(argument, value === undefined ? junkJson(random) : JSON.stringify(value));
	}
	if (!isCareful && random.chance(0.1)) values.set(junkText(random).slice(0, 100), junkJson(random));
	return values;
}

function plausible(argument: string, ids: Ids, random: Random): unknown {
	if (argument === 'channel' || argument === 'channels') return random.pick(ids.channels);
	if (argument === 'user' || argument === 'user_id' || argument === 'users') return random.pick(ids.users);
	if (argument === 'team_id') return random.pick(ids.teams);
	if (/ts|oldest|latest/.test(argument)) return random.pick(ids.messages) ?? '1700000000.000000';
	if (argument === 'limit') return random.below(1_200);
	if (argument === 'name') return `n-${random.below(1_000_000)}`;
	if (argument === 'text' || argument === 'topic' || argument === 'purpose') return junkText(random);
	if (argument === 'types') return 'public_channel,private_channel,mpim,im';
	if (argument === 'level') return random.pick(['all', 'mentions', 'none']);
	if (argument === 'presence') return random.pick(['auto', 'away']);
	if (argument === 'platform') return random.pick(['apns', 'fcm', 'web']);
	if (argument === 'token') return `token-${random.below(10)}`;
	return undefined;
}

const JSON_TYPES = ['application/json', 'application/json; charset=utf-8', 'application/json;charset=utf-16'];
const TYPES = [
	'text/plain',
	'application/xml',
	'multipart/form-data',
	'multipart/form-data; boundary=x',
	';',
	'a/b',
];
const VERBS = ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

function requestOf(
	token: string,
	args: ReadonlyMap<string, string>,
	isCareful: boolean,
	random: Random,
): FuzzRequest {
	const headers = { authorization: `Bearer ${token}` };
	const post = (type: string, body: string | Uint8Array<ArrayBuffer>, query = ''): FuzzRequest => ({
		query,
		init: { method: 'POST', headers: { ...headers, 'content-type': type }, body },
	});
	const json = `{${[...args].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
	if (isCareful) return post('application/json', json);
	switch (random.below(8)) {
		case 0:
			return post('application/x-www-form-urlencoded', formOf(args));
		case 1:
			return { query: `?${formOf(args)}`, init: { headers } };
		case 2:
			return post(random.pick(TYPES) ?? '', json);
		case 3:
			return post(random.pick([...JSON_TYPES, ...TYPES]) ?? '', junkBytes(random, random.below(300)));
		case 4:
			// Cut off, or with the same names in the query.
			return random.chance(0.5)
				? post('application/json', json.slice(0, random.below(json.length + 1)))
				: post('application/json', json, `?${formOf(args)}`);
		case 5:
			if (random.chance(0.7)) return post('application/json', json);
			return { query: `?${formOf(args)}`, init: { method: random.pick(VERBS) ?? 'GET', headers } };
		default:
			return post(random.pick(JSON_TYPES) ?? 'application/json', json);
	}
}

/** Texts are sent as they are, all other values as JSON. */
function formOf(args: ReadonlyMap<string, string>): string {
	const pairs = [...args].map(([name, json]): [string, string] => {
		const value = json.startsWith('"') ? String(JSON.parse(json)) : json;
		return [name.slice(0, 200), value.slice(0, 2_000)];
	});
	return new URLSearchParams(pairs).toString();
}

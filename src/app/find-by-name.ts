import { isUserId } from '../model/ids.ts';
import type { ApiCall } from '../remote/api-client.ts';
import { ConfigError } from './config.ts';

/** Finds workspaces and users by name or id, for commands that call a running server. */

export interface NamedTeam {
	readonly id: string;
	readonly name: string;
	readonly domain: string;
}

export interface NamedUser {
	readonly id: string;
	readonly name: string;
	readonly team_id: string;
	readonly real_name: string;
	readonly deleted: boolean;
	readonly is_bot: boolean;
}

interface Listing {
	readonly response_metadata: { readonly next_cursor: string };
}

/** Iterates over all pages of a listing. */
export async function* listed<T>(
	call: ApiCall,
	method: string,
	key: string,
	args: Readonly<Record<string, unknown>> = {},
): AsyncGenerator<T> {
	for (let cursor = ''; ; ) {
		const page = await call<Listing & Readonly<Record<string, readonly T[]>>>(method, {
			...args,
			limit: 1000,
			...(cursor === '' ? {} : { cursor }),
		});
		yield* page[key] ?? [];
		cursor = page.response_metadata.next_cursor;
		if (cursor === '') return;
	}
}

/** All workspaces in the order of their ids. */
export const teamsOf = (call: ApiCall): Promise<NamedTeam[]> =>
	Array.fromAsync(listed<NamedTeam>(call, 'admin.teams.list', 'teams'));

export interface FoundTeam extends NamedTeam {
	/** The value of --team that selects this workspace, quoted for a printed command line. */
	readonly flag: string;
}

/** Finds a workspace by name, domain or id; without `given`, returns the only one. */
export async function teamNamed(call: ApiCall, given: string | undefined): Promise<FoundTeam> {
	const teams = await teamsOf(call);
	const team = oneOf(teams, given);
	return { ...team, flag: teamFlag(team, teams) };
}

function oneOf(teams: readonly NamedTeam[], given: string | undefined): NamedTeam {
	if (teams.length === 0)
		throw new ConfigError(['there is no workspace yet: create one with `tidemark team add NAME`']);
	if (given === undefined) {
		const [only, another] = teams;
		if (only && !another) return only;
		throw new ConfigError([`there are several workspaces: choose one with --team (${someOf(teams)})`]);
	}
	const [only, another] = matching(teams, given);
	if (!only) throw new ConfigError([`there is no workspace "${given}" (existing: ${someOf(teams)})`]);
	if (another) throw new ConfigError([`several workspaces are named "${given}": give the id with --team`]);
	return only;
}

function matching(teams: readonly NamedTeam[], given: string): readonly NamedTeam[] {
	const byId = teams.filter(({ id }) => id === given);
	const byName = teams.filter(({ name, domain }) => isSameName(name, given) || isSameName(domain, given));
	const exact = byName.filter(({ name, domain }) => name === given || domain === given);
	return [byId, exact, byName].find(({ length }) => length > 0) ?? [];
}

/** The name of the workspace, or its id if --team would not find exactly this workspace by its name. */
export function teamFlag({ id, name }: NamedTeam, teams: readonly NamedTeam[]): string {
	const [found, another] = matching(teams, name);
	return found?.id === id && !another ? shellWord(name) : id;
}

/** Upper and lower case do not distinguish names of workspaces. */
export const isSameName = (one: string, other: string): boolean =>
	one.trim().toLowerCase() === other.trim().toLowerCase();

const someOf = (teams: readonly NamedTeam[]): string =>
	[...teams.slice(0, 5).map(({ id, name }) => `${name}: ${id}`), ...(teams.length > 5 ? ['…'] : [])].join(
		', ',
	);

/** Returns the id of a user. A name needs --team if there are several workspaces. */
export async function userNamed(call: ApiCall, given: string, team: string | undefined): Promise<string> {
	const name = given.replace(/^@/, '');
	// A name may look like an id; the id wins, as in Slack's interface.
	if (isUserId(name)) return name;
	const { id: team_id, name: teamName, flag } = await teamNamed(call, team);
	const { users } = await call<{ users: readonly NamedUser[] }>('admin.users.list', { team_id, name });
	const [user] = users;
	if (!user)
		throw new ConfigError([
			`there is no user "${name}" in ${teamName}: run \`tidemark user list --team ${flag}\` to see the users`,
		]);
	return user.id;
}

/** Quotes text so that a shell reads it as one word. */
export const shellWord = (text: string): string =>
	/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

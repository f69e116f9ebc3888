import { isUserId } from '../model/ids.ts';
import type { ApiCall } from '../remote/api-client.ts';
import { ConfigError } from './config.ts';

/** Workspaces and users by name as well as by id, for commands that speak to a running server. */

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

/** All pages of a listing. */
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

/** Every workspace, in the order of their ids. */
export const teamsOf = (call: ApiCall): Promise<NamedTeam[]> =>
	Array.fromAsync(listed<NamedTeam>(call, 'admin.teams.list', 'teams'));

/** The workspace called so; without a name, the only one there is. */
export async function teamNamed(call: ApiCall, given: string | undefined): Promise<NamedTeam> {
	const teams = await teamsOf(call);
	if (teams.length === 0)
		throw new ConfigError(['there is no workspace yet: create one with `tidemark team add NAME`']);
	if (given === undefined) {
		const [only, another] = teams;
		if (only && !another) return only;
		throw new ConfigError([`there are several workspaces: give --team (${someOf(teams)})`]);
	}
	const byId = teams.filter(({ id }) => id === given);
	const found =
		byId.length > 0 ? byId : teams.filter(({ name, domain }) => name === given || domain === given);
	const [only, another] = found;
	if (!only) throw new ConfigError([`there is no workspace "${given}" (${someOf(teams)})`]);
	if (another) throw new ConfigError([`several workspaces are called "${given}": give the id as --team`]);
	return only;
}

const someOf = (teams: readonly NamedTeam[]): string =>
	[...teams.slice(0, 5).map(({ id, name }) => `${name}: ${id}`), ...(teams.length > 5 ? ['…'] : [])].join(
		', ',
	);

/** The id of the user called so. A name needs a workspace where there are several. */
export async function userNamed(call: ApiCall, given: string, team: string | undefined): Promise<string> {
	const name = given.replace(/^@/, '');
	// A name may look like an id: then the id wins, as everywhere in Slack's interface.
	if (isUserId(name)) return name;
	const { id: team_id, name: teamName } = await teamNamed(call, team);
	const { users } = await call<{ users: readonly NamedUser[] }>('admin.users.list', { team_id, name });
	const [user] = users;
	if (!user)
		throw new ConfigError([
			`there is no user "${name}" in ${teamName}: \`tidemark user list\` lists the users`,
		]);
	return user.id;
}

/** As a flag that a shell reads as one word. */
export const word = (text: string): string =>
	/^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

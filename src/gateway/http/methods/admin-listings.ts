import { Rejection } from '../../../model/errors.ts';
import { wireUser } from '../../../protocol/objects.ts';
import { accountName } from '../account-name.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { adminMethod, type Call, wallMicros } from '../method.ts';
import { nextCursor } from '../paging.ts';

/** Lists workspaces and their users for the administrator. */

const PAGE = 100;

export const adminTeamsList = adminMethod({
	arguments: { limit: type.limit(PAGE), cursor: type.cursor('after') },
	run: async (args, { services }) => {
		const page = await services.directory.teams(args.cursor ?? null, args.limit);
		return {
			teams: page.items.map(({ id, name, domain, createdTs }) => ({
				id,
				name,
				domain,
				date_created: Math.floor(createdTs / 1e6),
			})),
			...nextCursor('after', page.next),
		};
	},
});

export const adminUsersList = adminMethod({
	arguments: {
		team_id: type.team,
		name: optional(accountName),
		limit: type.limit(PAGE),
		cursor: type.cursor('after'),
	},
	run: async (args, call) => {
		const { directory } = call.services;
		await teamWithId(call, args.team_id);
		const page =
			args.name === undefined
				? await directory.usersOf(args.team_id, args.cursor ?? null, args.limit)
				: { items: await directory.usersNamed(args.team_id, [args.name]), next: null };
		return {
			users: page.items.map((user) => wireUser(user, wallMicros())),
			...nextCursor('after', page.next),
		};
	},
});

export async function teamWithId({ services }: Call, id: string) {
	const team = await services.directory.team(id);
	if (!team) throw new Rejection('team_not_found', 'team_id: no such workspace');
	return team;
}

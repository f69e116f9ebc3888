import { Rejection } from '../../../model/errors.ts';
import { appMethod } from '../method.ts';
import { originFor, socketModeUrl } from '../origin.ts';

/** Returns the address of a Socket Mode connection. */
export const appsConnectionsOpen = appMethod({
	limited: 'connects',
	arguments: {},
	run: async (_args, { services, caller, request }) => {
		const app = await services.apps.app(caller.app);
		const [user] = app ? await services.directory.users([app.botUser]) : [];
		if (!app || !user) throw new Rejection('invalid_auth');
		const ticket = await services.tickets.issue({
			user,
			team: app.team,
			tokenKey: caller.tokenKey,
			expiresAt: Number.POSITIVE_INFINITY,
			issuedAt: 0,
			options: { since: 0 },
			origin: originFor(request, services.publicUrl),
			app: app.id,
		});
		return { url: socketModeUrl(request, ticket, app.id) };
	},
});

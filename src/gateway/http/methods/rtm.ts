import { Rejection } from '../../../model/errors.ts';
import type { Services } from '../../services.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { userMethod } from '../method.ts';
import { originFor, socketUrl } from '../origin.ts';

/** Spreads the retries of rejected clients over this many seconds. */
const RETRY_SPREAD_SECONDS = 4;

/** Throws if a socket could not be served now: clients wait after an error, but reconnect at once after a close. */
async function checkAvailable({ views, random }: Services): Promise<void> {
	try {
		await views.available();
	} catch (error) {
		if (!(error instanceof Rejection)) throw error;
		const wait = 1 + ((random(1)[0] ?? 0) % RETRY_SPREAD_SECONDS);
		throw new Rejection(error.code, error.detail, error.retryAfterSeconds ?? wait, error.cause);
	}
}

/** Detects Slack's JavaScript client, which sends nothing for two seconds unless its first frame (`id: 1`) gets a reply. */
const isSlackJsClient = (request: Request): boolean =>
	request.headers.get('user-agent')?.includes('@slack:web-api') ?? false;

/**
 * Returns the address for a socket. Rejects clients that cannot be served now, so that the upgrade does not have to: clients retry a
 * rejected upgrade at once.
 */
export const rtmConnect = userMethod({
	limited: 'connects',
	arguments: { since: optional(type.position), counts: type.flag, batch_presence_aware: type.flag },
	ignored: [
		'presence_sub',
		'connect_only',
		'include_locale',
		'mpim_aware',
		'no_latest',
		'no_query_on_subscribe',
		'no_unreads',
		'simple_latest',
	],
	run: async (args, { services, caller, request }) => {
		const { user, tokenKey, expiresAt, issuedAt } = caller;
		await checkAvailable(services);
		const team = await services.directory.team(caller.team);
		// If the client sends no position, it gets the events from now until the socket opens, after `hello`.
		const since = await services.views.since(user.id, args.since);
		const ticket = await services.tickets.issue({
			user,
			team: caller.team,
			tokenKey,
			expiresAt,
			issuedAt,
			options: { since, counts: args.counts, helloReplies: isSlackJsClient(request) },
			origin: originFor(request, services.publicUrl),
		});
		return {
			url: socketUrl(request, ticket),
			self: { id: user.id, name: user.name },
			team: { id: caller.team, name: team?.name ?? '', domain: team?.domain ?? '' },
		};
	},
});

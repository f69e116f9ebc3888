import { Refusal } from '../../../model/errors.ts';
import type { Services } from '../../services.ts';
import * as type from '../argument-types.ts';
import { optional } from '../arguments.ts';
import { userMethod } from '../method.ts';
import { originFor, socketUrl } from '../origin.ts';

/** Clients that were refused come back spread over so many seconds. */
const RETRY_SPREAD_SECONDS = 4;

/** A socket could not be served: clients wait here, while they would connect again at once if it were closed. */
async function available({ readState, random }: Services): Promise<void> {
	try {
		await readState.available();
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		const wait = 1 + ((random(1)[0] ?? 0) % RETRY_SPREAD_SECONDS);
		throw new Refusal(error.code, error.detail, error.retryAfterSeconds ?? wait, error.cause);
	}
}

/** Slack's JavaScript client, which sends nothing for two seconds unless it gets a reply to frame 1. */
const isSlacksOwn = (request: Request): boolean =>
	request.headers.get('user-agent')?.includes('@slack:web-api') ?? false;

/** Where to open a socket. Load is shed here, with 429, and never at the upgrade, which clients repeat at once. */
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
		const { user, tokenHash, expiresAt, issuedAt } = caller;
		await available(services);
		const team = await services.directory.team(caller.team);
		// Without a position of the client's own, what happens until the socket opens comes after hello.
		const since =
			args.since === undefined
				? await services.readState.stampOf(user.id)
				: services.sync.sinceOf(args.since);
		const ticket = await services.tickets.issue({
			user,
			team: caller.team,
			tokenHash,
			expiresAt,
			issuedAt,
			options: { since, counts: args.counts, helloReplies: isSlacksOwn(request) },
			origin: originFor(request, services.publicUrl),
		});
		return {
			url: socketUrl(request, ticket),
			self: { id: user.id, name: user.name },
			team: { id: caller.team, name: team?.name ?? '', domain: team?.domain ?? '' },
		};
	},
});

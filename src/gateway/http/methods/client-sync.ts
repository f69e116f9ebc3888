import { formatPosition } from '../../../model/position.ts';
import * as type from '../argument-types.ts';
import { encodedAnswer } from '../envelope.ts';
import { userMethod } from '../method.ts';

/** What a client missed while it was away: the events it would have got, or that there are too many to tell. */
export const clientSync = userMethod({
	arguments: { since: type.position },
	run: async ({ since }, { services, caller }) => {
		const missed = await services.sync.missed(caller.user.id, services.sync.sinceOf(since));
		const position = formatPosition(missed.position);
		return 'tooFarBehind' in missed
			? { history_invalid: true, position }
			: encodedAnswer(`{"ok":true,"events":[${missed.frames.join(',')}],"position":"${position}"}`);
	},
});

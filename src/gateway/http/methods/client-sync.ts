import { formatPosition } from '../../../model/position.ts';
import * as type from '../argument-types.ts';
import { encodedAnswer } from '../envelope.ts';
import { userMethod } from '../method.ts';
import { originRewriter } from '../origin.ts';

/** Returns the events that a client missed while disconnected; if they are too many, tells it to reload everything. */
export const clientSync = userMethod({
	arguments: { since: type.position },
	run: async ({ since }, { services, caller, request }) => {
		const missed = await services.sync.missed(caller.user.id, services.views.sinceOf(since));
		const position = formatPosition(missed.position);
		if ('tooFarBehind' in missed) return { history_invalid: true, position };
		const rewriteOrigin = originRewriter(request, services.publicUrl);
		return encodedAnswer(
			rewriteOrigin(`{"ok":true,"events":[${missed.frames.join(',')}],"position":"${position}"}`),
		);
	},
});

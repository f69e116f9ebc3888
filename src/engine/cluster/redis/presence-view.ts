import type { Sessions } from '../../ports/sessions.ts';
import type { Commands } from './connection.ts';
import type { Keys } from './keys.ts';

/** Who is active, for processes that have no connections of their own and so do not count among the gateways. */

const NO_CONNECTION = '';
const NO_LIFETIME = 0;

export const presenceView = (commands: Commands, keys: Keys): Pick<Sessions, 'activeAmong'> => ({
	activeAmong: async (users) => {
		const answers = await Promise.all(
			users.map((user) =>
				commands.sessions(keys.sessions(user), keys.away(user), 'ask', NO_CONNECTION, NO_LIFETIME),
			),
		);
		return new Set(users.filter((_, index) => (answers[index] as readonly [number, number])[1] === 1));
	},
});

import type { Commands } from './connection.ts';
import { CHANGES_TTL_SECONDS, type Keys } from './keys.ts';

/**
 * Records that changes of a conversation from this stamp on become visible only now: their events may be lost, and gateways learn it
 * late. Clients may have moved past these events meanwhile, and have to resume from before them.
 *
 * The script takes it for a command that is applied again and changes nothing. It does nothing if Redis does not record the
 * conversation, as after a loss of the node: then no client resumes from an earlier position.
 */
export async function recordDelay(
	commands: Commands,
	keys: Keys,
	conversation: string,
	stamp: number,
): Promise<void> {
	const state = [keys.meta(conversation), keys.recent(conversation), keys.version(conversation)];
	await commands.apply(...state, '', '', CHANGES_TTL_SECONDS, 0, 0, 1, stamp, '');
}

import type { Action, Result } from '../../sequencer/commands.ts';
import type { UserCall } from './method.ts';

/** Asks the owner of a conversation, in the caller's name. */
export const submit = ({ services, caller }: UserCall, channel: string, action: Action): Promise<Result> =>
	services.requests.submit({ user: caller.user.id, team: caller.team }, channel, action);

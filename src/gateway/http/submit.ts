import { ERRORS, Refusal } from '../../model/errors.ts';
import type { Action, Result } from '../../sequencer/commands.ts';
import type { UserCall } from './method.ts';

/** Asks the owner of a conversation, in the caller's name. */
export async function submit(
	{ services, caller }: UserCall,
	channel: string,
	action: Action,
): Promise<Result> {
	if (action.type === 'post') await services.partners.check(caller.user.id, channel);
	return services.requests.submit({ user: caller.user.id, team: caller.team }, channel, action);
}

/**
 * What an answer has beyond the decision. The change happened, so an answer that cannot be complete now is sent without it: a
 * refusal would say that nothing was changed.
 */
export async function ifAvailable<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
	try {
		return await read();
	} catch (error) {
		if (error instanceof Refusal && ERRORS[error.code].retry) return otherwise;
		throw error;
	}
}

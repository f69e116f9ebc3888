import { ERRORS, Rejection } from '../../model/errors.ts';
import type { Action, Result } from '../../sequencer/commands.ts';
import type { UserCall } from './method.ts';

/** Submits an action of the caller to the worker that owns the conversation. */
export async function submit(
	{ services, caller }: UserCall,
	channel: string,
	action: Action,
): Promise<Result> {
	if (action.type === 'post') await services.partners.check(caller.user.id, channel);
	return services.requests.submit({ user: caller.user.id, team: caller.team }, channel, action);
}

/**
 * Reads additional data for an answer after a change. If a service is unavailable, returns `otherwise`: the change has happened, and an
 * error would say that it has not.
 */
export async function ifAvailable<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
	try {
		return await read();
	} catch (error) {
		if (error instanceof Rejection && ERRORS[error.code].retry) return otherwise;
		throw error;
	}
}

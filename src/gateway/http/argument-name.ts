import { ERRORS, type ErrorCode, Rejection } from '../../model/errors.ts';
import type { Schema } from './arguments.ts';

/**
 * Adds the name of the argument to an error that lacks it: the sequencer's rules know conversations and messages, but
 * not how a method names its arguments. Names the first candidate that the method has.
 */

const CHANNEL = ['channel'];
const MESSAGE = ['ts'];
const THREAD = ['thread_ts', 'ts'];
const NAME = ['name'];

const ARGUMENTS_OF: Partial<Record<ErrorCode, readonly string[]>> = {
	channel_not_found: CHANNEL,
	not_in_channel: CHANNEL,
	already_in_channel: ['users', 'channel'],
	is_archived: CHANNEL,
	is_inactive: CHANNEL,
	already_archived: CHANNEL,
	not_archived: CHANNEL,
	last_member: CHANNEL,
	cant_leave_general: CHANNEL,
	cant_kick_from_general: CHANNEL,
	cant_archive_general: CHANNEL,
	too_many_members: CHANNEL,
	method_not_supported_for_channel_type: CHANNEL,
	cant_invite_self: ['users'],
	cant_kick_self: ['user'],
	invalid_name_required: NAME,
	invalid_name_maxlength: NAME,
	invalid_name_specials: NAME,
	invalid_name_punctuation: NAME,
	too_long: ['topic', 'purpose'],
	no_text: ['text'],
	message_not_found: MESSAGE,
	cant_update_message: MESSAGE,
	cant_delete_message: MESSAGE,
	thread_not_found: THREAD,
	cannot_reply_to_message: THREAD,
	not_subscribed: THREAD,
};

export function withArgumentName(rejection: Rejection, schema: Schema): Rejection {
	if (rejection.detail !== undefined) return rejection;
	const name = ARGUMENTS_OF[rejection.code]?.find((argument) => Object.hasOwn(schema, argument));
	if (name === undefined) return rejection;
	return new Rejection(
		rejection.code,
		`${name}: ${ERRORS[rejection.code].meaning}`,
		rejection.retryAfterSeconds,
	);
}

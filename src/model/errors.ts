/**
 * Every error that Tidemark answers with: the one table that code, documentation (docs/errors.md) and
 * tests share. `retry` tells whether the same request may succeed later without being changed.
 */

export interface ErrorEntry {
	readonly meaning: string;
	readonly retry: boolean;
	/** HTTP status; Slack's clients read anything but 200 as a passing fault and try again. */
	readonly status: 200 | 429 | 503;
}

const final = (meaning: string): ErrorEntry => ({ meaning, retry: false, status: 200 });

export const ERRORS = {
	// Who is asking
	not_authed: final('No token was sent. Send `Authorization: Bearer <token>`.'),
	invalid_auth: final('The token is unknown, expired, revoked or forged.'),
	account_inactive: final('The user of this token is deactivated.'),
	token_revoked: final('The token was revoked.'),
	token_expired: final('The token has expired; ask for a new one.'),
	not_allowed_token_type: final(
		'This method wants another kind of token: `admin.*` takes the administrator’s.',
	),
	no_permission: final('The caller may not do this.'),

	// What was sent
	unknown_method: final('There is no such method.'),
	invalid_arguments: final(
		'An argument has a value that it cannot have; `response_metadata.messages` names it.',
	),
	invalid_arg_name: final(
		'An argument is not one of this method’s; `response_metadata.messages` names it. Only `admin.*` refuses such arguments.',
	),
	missing_argument: final('A required argument is missing; `response_metadata.messages` names it.'),
	invalid_array_arg: final('A list was expected: comma-separated, or a JSON array of strings.'),
	invalid_form_data: final('The form in the body cannot be read.'),
	invalid_json: final('The JSON in the body cannot be read.'),
	json_not_object: final('The JSON in the body is not an object.'),
	invalid_charset: final('The body must be UTF-8.'),
	invalid_post_type: final('The body’s Content-Type is none of form, multipart or JSON.'),
	request_too_large: final('The body is larger than the server takes.'),
	request_timeout: final('The body did not arrive in time.'),
	invalid_cursor: final('The cursor is not one that this method handed out.'),
	invalid_limit: final('The limit is not a whole number.'),
	invalid_types: final('`types` has a value that is not public_channel, private_channel, mpim or im.'),
	invalid_timestamp: final('The ts is not of the form 1717200000.123456.'),
	invalid_ts_latest: final('`latest` is not a timestamp.'),
	invalid_ts_oldest: final('`oldest` is not a timestamp.'),
	invalid_presence: final('The presence is neither `auto` nor `away`.'),
	invalid_position: final('The position is not one that the server handed out.'),

	// Workspaces and people
	team_not_found: final('There is no such workspace.'),
	user_not_found: final('There is no such user in this workspace.'),
	users_not_found: final('No active user of this workspace has this address.'),
	bot_not_found: final('There is no such bot in this workspace.'),
	invalid_profile: final('`profile` is not a JSON object of texts, or neither it nor `name` was given.'),
	user_disabled: final('The user is deactivated.'),
	no_user: final('No user was given.'),
	name_taken: final('The name is in use in this workspace.'),
	token_not_found: final('There is no such token.'),
	device_not_found: final('The caller has no such device.'),
	web_push_off: final('This server tells browsers of nothing: Web Push is not configured.'),
	too_many_devices: final('The caller has as many devices as are allowed; remove one.'),

	// Conversations
	channel_not_found: final('There is no such conversation, or the caller may not know of it.'),
	not_in_channel: final('The user is not a member of the conversation.'),
	already_in_channel: final('The user is a member already.'),
	is_archived: final('The conversation is archived.'),
	is_inactive: final('The conversation is archived, its messages stay as they are.'),
	already_archived: final('The conversation is archived already.'),
	not_archived: final('The conversation is not archived.'),
	cant_invite_self: final('One cannot invite oneself.'),
	cant_kick_self: final('One cannot remove oneself: use conversations.leave.'),
	last_member: final('The last member of a private channel cannot leave it; archive it instead.'),
	too_many_members: final('The conversation cannot take more members.'),
	method_not_supported_for_channel_type: final('This kind of conversation does not have this method.'),
	invalid_name_required: final('The name is empty.'),
	invalid_name_maxlength: final('The name is longer than 80 characters.'),
	invalid_name_specials: final('The name has other characters than lower case letters, digits, - and _.'),
	invalid_name_punctuation: final('The name has nothing but punctuation.'),
	too_long: final('The text is longer than this field takes.'),
	users_list_not_supplied: final('Neither `users` nor `channel` was given.'),
	not_enough_users: final('A group conversation needs other people.'),
	too_many_users: final('More users than one call takes.'),

	// Messages and threads
	no_text: final('The message has no text, blocks or attachments.'),
	msg_too_long: final('The text is longer than the server takes.'),
	invalid_blocks_format: final('`blocks` is not a JSON array of objects.'),
	invalid_attachments_format: final('`attachments` is not a JSON array of objects.'),
	invalid_metadata_format: final('`metadata` is not a JSON object.'),
	msg_blocks_too_long: final('Blocks, attachments and metadata together are too large.'),
	too_many_attachments: final('More attachments than a message takes (100).'),
	message_not_found: final('There is no such message.'),
	cant_update_message: final('Only its author can edit a message.'),
	cant_delete_message: final('Only its author can delete a message.'),
	thread_not_found: final('There is no such thread.'),
	cannot_reply_to_message: final('A reply cannot have replies; reply to its thread.'),
	not_subscribed: final('The user does not follow this thread.'),

	// The server itself
	ratelimited: { meaning: 'Too many requests; wait for `Retry-After` seconds.', retry: true, status: 429 },
	service_unavailable: {
		meaning: 'The server cannot do this right now; nothing was changed. Try again.',
		retry: true,
		status: 503,
	},
	// Not 503, which Slack's clients send again by themselves: a post without a client_msg_id would be there twice.
	outcome_unknown: final(
		'No answer came in time: whether the change took place, or still will, is not known. Look before you send it again; a message that has a `client_msg_id` can be sent again as it is.',
	),
	internal_error: final('The server failed; its log says how. Whether the change took place is unknown.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** What a socket is closed with. The range tells the client what to do. */
export const CLOSE_CODES = {
	/** 4000–4099: connect again and resume. */
	going_away: { code: 4000, meaning: 'The server is stopping; connect again and resume.' },
	too_slow: { code: 4001, meaning: 'The client read too slowly; connect again and resume.' },
	unresponsive: { code: 4002, meaning: 'The client answered no ping; connect again and resume.' },
	crowded_address: {
		code: 4003,
		meaning: 'The address has as many sockets open as are allowed; connect again later and resume.',
	},
	/** 4100–4199: connect again and fetch everything anew. */
	resync: { code: 4100, meaning: 'Too far behind to resume; connect again and fetch everything anew.' },
	/** 4200–4299: do not connect again. */
	signed_out: { code: 4200, meaning: 'The token was revoked or the user deactivated.' },
	bad_frame: { code: 4201, meaning: 'A frame could not be read, or was larger than 16 KB.' },
	bad_ticket: {
		code: 4202,
		meaning:
			'The ticket in the address is unknown, used or older than 30 s; call `rtm.connect` for a new one.',
	},
	token_expired: { code: 4203, meaning: 'The token has expired; connect again with a new one and resume.' },
	too_many_sockets: {
		code: 4204,
		meaning: 'The user has as many sockets open as are allowed; close one.',
	},
} as const;

export type CloseReason = keyof typeof CLOSE_CODES;

/** A request that is refused. */
export class Refusal extends Error {
	constructor(
		readonly code: ErrorCode,
		/** For the caller: names no file, host or address of the server. */
		readonly detail?: string,
		readonly retryAfterSeconds?: number,
		/** For the log. */
		override readonly cause?: Error,
	) {
		super([code, detail, cause?.message].filter((part) => part !== undefined).join(': '));
		this.name = 'Refusal';
	}

	/** For the log: what the caller hears, and why. */
	get reason(): string {
		return [this.detail ?? this.code, this.cause?.message].filter((part) => part !== undefined).join(': ');
	}
}

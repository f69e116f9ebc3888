/**
 * Every error that Tidemark answers with: the one table that code, documentation (docs/errors.md) and
 * tests share. `retry`: the same request may succeed later, unchanged.
 */

export interface ErrorEntry {
	readonly meaning: string;
	readonly retry: boolean;
	/** HTTP status. Slack's clients retry on anything but 200. */
	readonly status: 200 | 429 | 503;
}

const final = (meaning: string): ErrorEntry => ({ meaning, retry: false, status: 200 });

export const ERRORS = {
	// Authentication
	not_authed: final('No token was sent. Send `Authorization: Bearer <token>`.'),
	invalid_auth: final('The token is unknown or forged; at `rtm.connect` it may also be expired or revoked.'),
	account_inactive: final('The user of this token is deactivated.'),
	token_revoked: final('The token was revoked.'),
	token_expired: final('The token has expired; ask for a new one.'),
	not_allowed_token_type: final(
		'This method needs another kind of token: `admin.*` needs the administrator’s.',
	),
	no_permission: final('The caller may change only their own profile.'),

	// Request and arguments
	unknown_method: final('There is no such method.'),
	invalid_arguments: final(
		'The value of an argument is invalid; `response_metadata.messages` names the argument.',
	),
	invalid_arg_name: final(
		'The method has no such argument; `response_metadata.messages` names it. Only `admin.*` rejects unknown arguments.',
	),
	missing_argument: final('A required argument is missing; `response_metadata.messages` names it.'),
	invalid_array_arg: final('The argument must be a list: comma-separated, or a JSON array of strings.'),
	invalid_form_data: final('The body is not a valid form.'),
	invalid_json: final('The body is not valid JSON.'),
	json_not_object: final('The body must be a JSON object.'),
	invalid_charset: final('The body must be UTF-8.'),
	invalid_post_type: final('The Content-Type of the body must be a form, multipart or JSON.'),
	request_too_large: final('The body is larger than the server accepts.'),
	request_timeout: final('The body did not arrive in time.'),
	invalid_cursor: final(
		'This method did not return this cursor to this caller, or the cursor has expired. Start again without a cursor.',
	),
	invalid_limit: final('`limit` must be a whole number.'),
	invalid_types: final('`types` may name public_channel, private_channel, mpim and im only.'),
	invalid_timestamp: final('A ts must look like 1717200000.123456.'),
	invalid_ts_latest: final('`latest` is not a timestamp.'),
	invalid_ts_oldest: final('`oldest` is not a timestamp.'),
	invalid_presence: final('`presence` must be `auto` or `away`.'),
	invalid_position: final('The position was not issued by this server.'),

	// Workspaces and people
	team_not_found: final('There is no such workspace.'),
	user_not_found: final('There is no such user in this workspace.'),
	users_not_found: final('No user of this workspace has this email address, or the user is deactivated.'),
	bot_not_found: final('There is no such bot in this workspace.'),
	invalid_profile: final('Send `profile`, a JSON object of strings, or `name` and `value`.'),
	bad_image: final(
		'The image is missing, is not a PNG, JPEG, GIF or WebP picture, or is larger than 1,024 × 1,024 pixels.',
	),
	too_large: final('The image is larger than the server accepts.'),
	user_disabled: final('The user is deactivated.'),
	no_user: final('No user was given.'),
	name_taken: final('The name is already taken in this workspace.'),
	token_not_found: final('There is no such token.'),
	invite_not_found: final('There is no such invite link. Check that the whole link was copied.'),
	invite_used: final('The invite link was used or revoked. Ask for a new one.'),
	invite_expired: final('The invite link has expired. Ask for a new one.'),
	too_many_prefs: final('The user has reached the maximum number of preferences (1,000).'),
	session_not_found: final('The caller has no such session.'),
	device_not_found: final('The caller has no such device.'),
	web_push_off: final('Web Push is disabled on this server.'),
	too_many_devices: final('The caller has reached the maximum number of devices; remove one.'),

	// Apps
	app_not_found: final('There is no such app.'),
	invalid_manifest: final(
		'The manifest cannot be used; `errors` or `response_metadata.messages` says where and why.',
	),
	webhook_not_found: final('There is no such webhook.'),
	command_not_found: final('No app of this workspace has this command.'),
	shortcut_not_found: final('The app has no such shortcut.'),
	action_not_found: final('The message or view has no such action.'),
	view_not_found: final('There is no such view, or it is closed.'),
	invalid_view: final('The view cannot be shown: it needs a type (`modal` or `home`), and blocks.'),
	hash_conflict: final('The view has changed since you read it: its hash differs. Read it again.'),
	push_limit_reached: final('Three views are already open on top of each other.'),
	invalid_trigger_id: final('The trigger was not issued for this app.'),
	expired_trigger_id: final(
		'The trigger is too old: open the view within a few seconds of the user’s action.',
	),
	exchanged_trigger_id: final('The trigger was already used.'),
	not_an_app: final('The token’s bot belongs to no app; create an app with `admin.apps.create`.'),
	user_not_in_channel: final('The user is not a member of the conversation.'),
	dispatch_failed: final(
		'The app is not connected or did not acknowledge within 3 s, or the request to its URL failed: no connection, a forbidden address, a redirect or an HTTP error. Try again when the app runs.',
	),

	// Conversations
	channel_not_found: final('There is no such conversation, or the caller may not see it.'),
	not_in_channel: final('The caller, or the user to remove, is not a member of the conversation.'),
	already_in_channel: final('The user is already a member of the conversation.'),
	is_archived: final('The conversation is archived.'),
	is_inactive: final('The conversation is archived; its messages cannot be edited.'),
	already_archived: final('The conversation is already archived.'),
	not_archived: final('The conversation is not archived.'),
	cant_invite_self: final('You cannot invite yourself.'),
	cant_kick_self: final('You cannot remove yourself; call `conversations.leave`.'),
	cant_leave_general: final('Everybody in the workspace is in its general channel; nobody can leave it.'),
	cant_kick_from_general: final(
		'Everybody in the workspace is in its general channel; nobody can be removed from it.',
	),
	cant_archive_general: final('The general channel of a workspace cannot be archived.'),
	last_member: final('The last member of a private channel cannot leave it; archive it instead.'),
	too_many_members: final('The conversation has, or would have, too many members for this method.'),
	method_not_supported_for_channel_type: final('This method does not work with this type of conversation.'),
	invalid_name_required: final('The name is empty.'),
	invalid_name_maxlength: final('The name is longer than 80 characters.'),
	invalid_name_specials: final('The name may contain lower-case letters, digits, - and _ only.'),
	invalid_name_punctuation: final('The name must contain a letter or a digit.'),
	too_long: final('The text is too long for this field.'),
	users_list_not_supplied: final('Neither `users` nor `channel` was given.'),

	too_many_users: final('Too many users for one call.'),

	// Messages and threads
	no_text: final('The message has no text, blocks or attachments.'),
	msg_too_long: final('The text is longer than the server accepts.'),
	invalid_blocks_format: final('`blocks` must be a JSON array of objects.'),
	invalid_attachments_format: final('`attachments` must be a JSON array of objects.'),
	invalid_metadata_format: final('`metadata` must be a JSON object.'),
	msg_blocks_too_long: final('Blocks, attachments and metadata together are too large.'),
	too_many_attachments: final('A message can have at most 100 attachments.'),
	message_not_found: final('There is no such message.'),
	cant_update_message: final('Only the author can edit a message.'),
	cant_delete_message: final('Only the author can delete a message.'),
	thread_not_found: final('There is no such thread.'),
	cannot_reply_to_message: final('You cannot reply to a reply; reply to its thread.'),
	invalid_name: final(
		"The name is not a valid emoji name; use lower-case letters, digits, `_`, `-`, `+` and `'`.",
	),
	bad_timestamp: final('The timestamp is not of the form 1717200000.123456.'),
	no_item_specified: final('No message was given; send `channel` and `timestamp`.'),
	already_reacted: final('The user has already reacted to this message with this emoji.'),
	no_reaction: final('The user has not reacted to this message with this emoji.'),
	too_many_emoji: final('The message has reached the maximum number of different emoji (50).'),
	too_many_reactions: final('The user has reached the maximum number of reactions to this message (23).'),
	already_pinned: final('The message is already pinned.'),
	no_pin: final('The message is not pinned.'),
	too_many_pins: final('The conversation has reached the maximum number of pins (100).'),
	time_in_past: final('`post_at` is in the past.'),
	time_too_far: final('`post_at` is more than 120 days ahead.'),
	invalid_time: final('`post_at`, `oldest` or `latest` is not a time in seconds.'),
	invalid_scheduled_message_id: final(
		'The caller has no such scheduled message in this conversation, or it was posted.',
	),
	restricted_too_many: final('The user has reached the maximum number of scheduled messages (500).'),
	no_query: final('The query is empty.'),
	search_too_broad: final('The words of the query are too frequent; add other words, or `in:` or `from:`.'),
	not_subscribed: final('The user does not follow this thread.'),

	// Files
	file_not_found: final('There is no such file, its upload is not finished, or the caller may not see it.'),
	file_deleted: final('The file was deleted.'),
	cant_delete_file: final('Only the user who uploaded a file can delete it.'),
	file_too_large: final('The file is larger than the server accepts (`TIDEMARK_FILE_MAX_MB`).'),
	storage_limit_reached: final(
		'The workspace has no room for this file (`TIDEMARK_TEAM_FILES_MB`), or the caller has too many unfinished uploads. Delete files, or finish uploads.',
	),
	files_disabled: final('Files are disabled on this server.'),
	too_many_files: final('A message can have at most 20 files.'),
	method_deprecated: final(
		'Slack retired this method: upload with `files.getUploadURLExternal` and `files.completeUploadExternal`.',
	),

	// The server itself
	ratelimited: { meaning: 'Too many requests; wait for `Retry-After` seconds.', retry: true, status: 429 },
	service_unavailable: {
		meaning:
			'The server cannot do this right now. Nothing was changed, except that a mark may still take effect; try again.',
		retry: true,
		status: 503,
	},
	// Not 503: Slack's clients retry on it, and a post without a client_msg_id would be stored twice.
	outcome_unknown: final(
		'The server could not confirm the change in time: it may have happened, or may still happen. Check before you retry; a message with a `client_msg_id` is safe to send again.',
	),
	internal_error: final('The server failed; its log has the cause. The change may or may not have happened.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** The codes that the server closes sockets with. The range says what the client should do next. */
export const CLOSE_CODES = {
	/** 4000–4099: connect again and resume. */
	going_away: {
		code: 4000,
		meaning: 'The server is stopping, or cannot serve this socket now; connect again and resume.',
	},
	too_slow: { code: 4001, meaning: 'The client read too slowly; connect again and resume.' },
	unresponsive: { code: 4002, meaning: 'The client did not answer pings; connect again and resume.' },
	crowded_address: {
		code: 4003,
		meaning: 'This address has reached the maximum number of open sockets; connect again later and resume.',
	},
	/** 4100–4199: connect again and reload everything. */
	resync: {
		code: 4100,
		meaning:
			'Too far behind to resume; reload everything. Reserved: this version sends the frame `resync` instead.',
	},
	/** 4200–4299: do not connect again before you have done what the meaning says. */
	signed_out: { code: 4200, meaning: 'The token was revoked or the user deactivated; sign in again.' },
	bad_frame: { code: 4201, meaning: 'A frame was larger than 16 KB; send smaller frames.' },
	bad_ticket: {
		code: 4202,
		meaning:
			'The ticket in the address is unknown, used or older than 30 s; call `rtm.connect` for a new one.',
	},
	token_expired: { code: 4203, meaning: 'The token has expired; connect again with a new one and resume.' },
	too_many_sockets: {
		code: 4204,
		meaning: 'The user has reached the maximum number of open sockets; close one.',
	},
} as const;

export type CloseReason = keyof typeof CLOSE_CODES;

/** The text of anything that was thrown. */
export const messageOfError = (error: unknown): string =>
	error instanceof Error ? error.message : String(error);

/** Thrown to reject a request: the caller gets the code and the detail. */
export class Rejection extends Error {
	constructor(
		readonly code: ErrorCode,
		/** For the caller: names no file, host or address of the server. */
		readonly detail?: string,
		readonly retryAfterSeconds?: number,
		/** For the log. */
		override readonly cause?: Error,
	) {
		super([code, detail, cause?.message].filter((part) => part !== undefined).join(': '));
		this.name = 'Rejection';
	}

	/** For the log: the answer that the caller gets, and the cause. */
	get reason(): string {
		return [this.detail ?? this.code, this.cause?.message].filter((part) => part !== undefined).join(': ');
	}
}

/** Whether the server itself failed, here or in a worker. Every other Rejection is an answer that the caller can act on. */
export const isInternalError = (error: unknown): boolean =>
	!(error instanceof Rejection) || error.code === 'internal_error';

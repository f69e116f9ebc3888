import type { ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';

/** What a view shows instead of its content (empty, failed, loading), and the texts of errors. */

interface EmptyProps {
	readonly icon: IconName;
	readonly title: string;
	readonly children?: ReactNode;
	/** Buttons. */
	readonly actions?: ReactNode;
}

export const Empty = ({ icon, title, children, actions }: EmptyProps) => (
	<div className="state">
		<span className="state-picture">
			<Icon name={icon} />
		</span>
		<h2>{title}</h2>
		{children && <p>{children}</p>}
		{actions && <div className="state-actions">{actions}</div>}
	</div>
);

export const Failed = ({ error, onRetry }: { readonly error: string; readonly onRetry: () => void }) => (
	<div className="state" role="alert">
		<h2>This could not be loaded</h2>
		<p>{errorText(error)}</p>
		<button type="button" className="button" onClick={onRetry}>
			Try again
		</button>
	</div>
);

/** Grey lines in the shape of the content that is loading. */
export const Loading = ({
	lines = 6,
	label = 'Loading',
}: {
	readonly lines?: number;
	readonly label?: string;
}) => (
	<div className="skeleton" role="status" aria-label={label}>
		{Array.from({ length: lines }, (_, line) => (
			// biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same and never move
			<span key={line} />
		))}
	</div>
);

const APP_CHANGED = 'The app has changed and no longer offers this.';

const ERROR_TEXTS: Readonly<Record<string, string>> = {
	network_error: 'The server does not answer. Try again in a moment.',
	invalid_auth: 'Token not recognised. Check that you copied all of it.',
	not_authed: 'Enter a token.',
	token_expired: 'This token has expired. Ask for a new one, or for an invite link.',
	token_revoked: 'This token was revoked. Ask for a new one, or for an invite link.',
	signed_out: 'This device was signed out. Sign in again with an invite link or a token.',
	session_ended:
		'You are signed out: your sign-in has expired or was revoked. Ask for a new invite link or token.',
	session_not_found: 'This device is already signed out.',
	account_inactive: 'This account is deactivated. Ask your administrator to reactivate it.',
	too_many_sockets:
		'Too many devices are connected for this account. Close Tidemark on one of them, then try again.',
	bad_frame: 'The server closed the connection. Try again; if it fails again, tell your administrator.',
	closed: 'The server closed the connection. Try again; if it fails again, tell your administrator.',
	not_in_channel: 'You are not in this conversation. Join it, or ask a member to add you.',
	channel_not_found:
		'This conversation does not exist, or you may not see it. If it is private, ask a member to add you.',
	is_archived: 'This conversation is archived. A member can unarchive it.',
	no_text: 'The message is empty. Write something first.',
	name_taken: 'This name is already taken. Choose another name.',
	invalid_name_required: 'A channel needs a name.',
	invalid_name_maxlength: 'A channel name has at most 80 characters.',
	invalid_name_specials: 'A channel name may contain only letters, digits, - and _.',
	invalid_name_punctuation: 'A channel name needs a letter or a digit.',
	already_in_channel: 'This person is already in the conversation.',
	too_long: 'The text is too long. The limit is 250 characters.',
	file_too_large: 'The file is larger than this server accepts. Choose a smaller one.',
	storage_limit_reached:
		'This workspace has no room for more files, or you have too many unfinished uploads. Wait until your uploads have finished, delete some of your files, or ask your administrator for more space.',
	bad_image: 'This file is not a supported picture. Choose a PNG, JPEG, GIF or WebP.',
	too_large: 'This picture is too large. Choose a smaller one.',
	files_disabled: 'Files are disabled on this server. Ask your administrator to enable them.',
	file_deleted: 'This file was deleted.',
	file_not_found: 'This file does not exist, or you may not see it.',
	upload_failed: 'The upload was interrupted. Try again.',
	service_unavailable: 'The server cannot do this right now. Try again in a moment.',
	outcome_unknown:
		'The server could not confirm the change in time, but it may have made it. Check before you try again.',
	internal_error: 'The server failed. Try again; if it fails again, tell your administrator.',
	message_not_found: 'This message no longer exists.',
	thread_not_found: 'This thread was deleted.',
	not_subscribed:
		'You do not follow this thread, so nothing in it is unread for you. Choose Follow at the top of the thread, then try again.',
	msg_too_long: 'This message is too long. Shorten it or send it in parts.',
	is_inactive: 'This conversation is archived. To change its messages, unarchive it first.',
	too_many_emoji: 'This message already has the maximum number of different emoji. Choose one of those.',
	too_many_reactions: 'You have reached the maximum number of reactions to this message. Remove one first.',
	search_too_broad:
		'These words occur in too many messages. Add words, or narrow the search with in: or from:.',
	too_many_devices:
		'You have reached the maximum number of devices with notifications. Turn notifications off on one of them.',
	command_not_found: 'No app of this workspace has this command. Type / for the list of commands.',
	dispatch_failed: 'The app does not answer. Try again later.',
	action_not_found: APP_CHANGED,
	shortcut_not_found: APP_CHANGED,
	app_not_found: APP_CHANGED,
	view_not_found: 'This form is closed or has expired. Open it again.',
	ratelimited: 'Too many requests at once. Wait a moment, then try again.',
	too_many_members: 'This conversation has too many members for this action.',
	cant_leave_general: 'Nobody can leave this channel: it is for everybody in the workspace.',
	cant_kick_from_general: 'Nobody can be removed from this channel: it is for everybody in the workspace.',
	cant_archive_general: 'This channel cannot be archived: it is for everybody in the workspace.',
	last_member: 'You are the last member of this channel, so you cannot leave it. Archive it instead.',
	invite_not_found: 'This invite link is not valid. Check that you copied all of it.',
	invite_used: 'This invite link was already used, or it was revoked. Ask for a new one.',
	invite_expired: 'This invite link has expired. Ask for a new one.',
	user_disabled: 'The account of this person is deactivated. Ask your administrator to reactivate it.',
	not_allowed_token_type:
		'This token does not belong to a person. Sign in with an invite link, or with a person’s token.',
};

export const errorText = (code: string): string =>
	ERROR_TEXTS[code] ?? `The server rejected this: ${code.replaceAll('_', ' ')}.`;

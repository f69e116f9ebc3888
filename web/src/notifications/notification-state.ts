/** Whether this browser shows notifications, and if not, why. Pure. */

export type NotificationState =
	/** Being changed, which may take an answer of the user's. */
	| 'changing'
	| 'on'
	| 'off'
	/** By its user, once, for this page. */
	| 'blocked'
	| 'unsupported'
	/** Neither https nor localhost. */
	| 'insecure'
	/** The server sends none. */
	| 'refused'
	| 'failed';

export interface Surroundings {
	readonly isSecure: boolean;
	/** Service workers, push and notifications, all of them. */
	readonly isSupported: boolean;
	readonly permission: 'default' | 'granted' | 'denied';
	/** Turned on here by the user who is signed in. */
	readonly isWished: boolean;
}

export function notificationStateOf({
	isSecure,
	isSupported,
	permission,
	isWished,
}: Surroundings): NotificationState {
	if (!isSecure) return 'insecure';
	if (!isSupported) return 'unsupported';
	if (permission === 'denied') return 'blocked';
	return isWished && permission === 'granted' ? 'on' : 'off';
}

/** Nothing that a click could change. */
export const isFixed = (state: NotificationState): boolean =>
	['unsupported', 'insecure', 'refused'].includes(state);

export const WORDS: Readonly<Record<NotificationState, string>> = {
	changing: 'Asking the browser…',
	on: 'This browser notifies you of mentions and direct messages while you are not looking, even when no page is open.',
	off: 'This browser does not notify you.',
	blocked:
		'The browser blocks notifications from this page. Allow them in its settings for this site, then try again.',
	unsupported:
		'This browser does not support notifications. (On an iPhone, add this page to the home screen first.)',
	insecure: 'Browsers allow notifications for https pages only, and on localhost.',
	refused: 'Web Push is disabled on this server.',
	failed: 'The browser could not subscribe at its push service. Try again later.',
};

/** Whether this browser shows notifications, and if not, why. Pure. */

export type NotificationState =
	/** Changing; the browser may be asking the user. */
	| 'changing'
	| 'on'
	| 'off'
	/** The user blocked notifications for this site. */
	| 'blocked'
	| 'unsupported'
	/** Neither https nor localhost. */
	| 'insecure'
	/** Web Push is disabled on the server. */
	| 'refused'
	| 'failed';

export interface Surroundings {
	readonly isSecure: boolean;
	/** The browser supports service workers, push and notifications. */
	readonly isSupported: boolean;
	readonly permission: 'default' | 'granted' | 'denied';
	/** The signed-in user turned them on in this browser. */
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

/** States that a click cannot change. */
export const isFixed = (state: NotificationState): boolean =>
	['unsupported', 'insecure', 'refused'].includes(state);

export const WORDS: Readonly<Record<NotificationState, string>> = {
	changing: 'Asking the browser…',
	on: 'This browser notifies you while you are not looking, even when no page is open. The menu of a conversation sets which messages.',
	off: 'This browser does not notify you.',
	blocked:
		'The browser blocks notifications from this page. Allow them in its settings for this site, then try again.',
	unsupported:
		'This browser does not support notifications. (On an iPhone, add this page to the home screen first.)',
	insecure: 'Browsers allow notifications only over https, or on localhost. Open this page with https.',
	refused: 'Web Push is disabled on this server.',
	failed: 'The browser could not subscribe at its push service. Try again later.',
};

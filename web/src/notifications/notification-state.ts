/** Whether this browser shows notifications, and if not, why. Pure. */

export type NotificationState =
	/** A change is under way; the browser may be asking the user. */
	| 'changing'
	| 'on'
	| 'off'
	/** The user blocked notifications for this site. */
	| 'blocked'
	| 'unsupported'
	/** Neither https nor localhost. */
	| 'insecure'
	/** Web Push is disabled on the server. */
	| 'disabled'
	| 'failed';

/** What the state depends on. */
export interface Environment {
	readonly isSecure: boolean;
	/** The browser supports service workers, push and notifications. */
	readonly isSupported: boolean;
	readonly permission: 'default' | 'granted' | 'denied';
	/** The signed-in user has turned notifications on in this browser. */
	readonly isTurnedOn: boolean;
}

export function notificationStateOf({
	isSecure,
	isSupported,
	permission,
	isTurnedOn,
}: Environment): NotificationState {
	if (!isSecure) return 'insecure';
	if (!isSupported) return 'unsupported';
	if (permission === 'denied') return 'blocked';
	return isTurnedOn && permission === 'granted' ? 'on' : 'off';
}

/** States that a click cannot change. */
export const isFixed = (state: NotificationState): boolean =>
	['unsupported', 'insecure', 'disabled'].includes(state);

export const STATE_TEXTS: Readonly<Record<NotificationState, string>> = {
	changing: 'Asking the browser…',
	on: 'This browser notifies you about unread messages, even if no page is open. To choose which messages notify you, open the menu of a conversation.',
	off: 'This browser does not notify you.',
	blocked:
		'The browser blocks notifications from this page. Allow them in its settings for this site, then try again.',
	unsupported:
		'This browser does not support notifications. On an iPhone or iPad, add this page to the home screen first.',
	insecure: 'Browsers allow notifications only over https, or on localhost. Open this page with https.',
	disabled: 'Web Push is disabled on this server. Ask your administrator to enable it.',
	failed:
		'This did not work: the browser’s push service did not answer, or rejected the change. Try again later.',
};

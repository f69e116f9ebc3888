/**
 * The push services that the server may call. Browsers choose the address of a subscription: without a list, anyone
 * could make the server call any address. Pure.
 */

/** Hosts, with a port unless it is 443; `*.` matches all subdomains. */
export type AllowedHosts = readonly string[];

/** The push services of Chrome, Firefox, Edge and Safari. */
export const KNOWN_HOSTS: AllowedHosts = [
	'fcm.googleapis.com',
	'*.push.services.mozilla.com',
	'*.notify.windows.com',
	'*.push.apple.com',
];

export const isHostPattern = (text: string): boolean =>
	/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/.test(text);

/** `host` is as in `URL.host`: lower case, with a port unless it is 443. */
export const isAllowed = (host: string, allowed: AllowedHosts): boolean =>
	allowed.some((pattern) => (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern));

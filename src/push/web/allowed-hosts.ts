/**
 * The push services that are spoken to. Where a subscription points is its browser's to say, so without a list anybody
 * could make this server call any address. Pure.
 */

/** Hosts, with their port where it is not 443; `*.` in front: whatever is below it. */
export type AllowedHosts = readonly string[];

/** Those of Chrome, Firefox, Edge and Safari. */
export const KNOWN_HOSTS: AllowedHosts = [
	'fcm.googleapis.com',
	'*.push.services.mozilla.com',
	'*.notify.windows.com',
	'*.push.apple.com',
];

export const isHostPattern = (text: string): boolean =>
	/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/.test(text);

/** As `URL.host` has it: in small letters, the port only where it is not 443. */
export const isAllowed = (host: string, allowed: AllowedHosts): boolean =>
	allowed.some((pattern) => (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern));

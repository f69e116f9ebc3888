/** The name of this browser in the list of devices: `Firefox on Windows`. */

const BROWSERS: readonly (readonly [RegExp, string])[] = [
	[/\bEdg\w*\//, 'Edge'],
	[/\bOPR\//, 'Opera'],
	[/\bFirefox\/|\bFxiOS\//, 'Firefox'],
	[/Chrome\/|CriOS\/|Chromium\//, 'Chrome'],
	[/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
	[/\biPhone\b/, 'iPhone'],
	[/\biPad\b/, 'iPad'],
	[/\bAndroid\b/, 'Android'],
	[/\bWindows\b/, 'Windows'],
	[/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
	[/\bLinux\b|\bX11\b/, 'Linux'],
];

const first = (agent: string, known: typeof BROWSERS, other: string): string =>
	known.find(([pattern]) => pattern.test(agent))?.[1] ?? other;

export const deviceName = (agent: string): string =>
	`${first(agent, BROWSERS, 'Browser')} on ${first(agent, SYSTEMS, 'a device')}`;

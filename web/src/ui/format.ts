/** Formats times, days, numbers and initials. */

const MAX_SHOWN = 99;

/** A badge has room for two digits. */
export const shortCount = (count: number): string => (count > MAX_SHOWN ? `${MAX_SHOWN}+` : String(count));

/** The first characters of the first two words; a character may be two UTF-16 units. */
export const initialsOf = (name: string): string =>
	name
		.split(/[\s._-]+/)
		.map((word) => [...word][0]?.toUpperCase() ?? '')
		.slice(0, 2)
		.join('');

export const plural = (count: number, one: string, many = `${one}s`): string =>
	`${count.toLocaleString()} ${count === 1 ? one : many}`;

const UNITS = ['bytes', 'KB', 'MB', 'GB'] as const;

/** In units of 1024, like the server's limits. */
export function fileSize(bytes: number): string {
	if (bytes === 1) return '1 byte';
	let size = bytes;
	let unit = 0;
	while (size >= 1024 && unit < UNITS.length - 1) {
		size /= 1024;
		unit += 1;
	}
	const digits = unit > 0 && size < 10 ? 1 : 0;
	return `${size.toLocaleString(undefined, { maximumFractionDigits: digits })} ${UNITS[unit]}`;
}

export const dateOf = (ts: string): Date => new Date(Number(ts) * 1000);

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const clockWithSeconds = new Intl.DateTimeFormat(undefined, {
	hour: 'numeric',
	minute: '2-digit',
	second: '2-digit',
});
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const withYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' });
const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });

export const timeOf = (ts: string): string => clock.format(dateOf(ts));

const withoutDayPeriod = (format: Intl.DateTimeFormat, date: Date): string =>
	format
		.formatToParts(date)
		.filter(({ type }) => type !== 'dayPeriod')
		.map(({ value }) => value)
		.join('')
		.trim();

/** Without AM and PM: for messages below one that shows the full time. */
export const shortTime = (ts: string): string => withoutDayPeriod(clock, dateOf(ts));
/** The same for the time axis of a chart; with seconds if its ticks are less than a minute apart. */
export const tickTime = (seconds: number, hasSeconds: boolean): string =>
	withoutDayPeriod(hasSeconds ? clockWithSeconds : clock, new Date(seconds * 1000));

export const exactTime = (ts: string): string => exact.format(dateOf(ts));

/** Local days since 1970: equal for two times of the same day. */
export function dayNumber(ts: string): number {
	const date = dateOf(ts);
	return Math.floor((date.getTime() - date.getTimezoneOffset() * 60_000) / 86_400_000);
}

export function dayName(ts: string, now = Date.now()): string {
	const age = dayNumber(String(now / 1000)) - dayNumber(ts);
	if (age === 0) return 'Today';
	if (age === 1) return 'Yesterday';
	return age < 300 ? weekday.format(dateOf(ts)) : withYear.format(dateOf(ts));
}

/** For lists: the time if it is today, otherwise the day. */
export const whenOf = (ts: string, now = Date.now()): string =>
	dayNumber(String(now / 1000)) === dayNumber(ts) ? timeOf(ts) : shortDay.format(dateOf(ts));

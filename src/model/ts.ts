/**
 * A message's identity inside its conversation: `1717200000.123456` on the wire, an integer of
 * microseconds inside. 16 digits are exact in a double until the year 2255.
 */

const WIRE = /^\d{10}\.\d{6}$/;
const LOOSE = /^\d{1,10}(\.\d{1,6})?$/;

export function formatTs(micros: number): string {
	const digits = String(micros).padStart(16, '0');
	return `${digits.slice(0, 10)}.${digits.slice(10)}`;
}

/** The exact form, as messages carry it; undefined for anything else. */
export function parseTs(text: string): number | undefined {
	return WIRE.test(text) ? Number(text.slice(0, 10)) * 1e6 + Number(text.slice(11)) : undefined;
}

/** Bounds of a range may be shorter: `0`, `1717200000`, `1717200000.5`. */
export function parseBound(text: string): number | undefined {
	if (!LOOSE.test(text)) return undefined;
	const [seconds = '0', fraction = ''] = text.split('.');
	return Number(seconds) * 1e6 + Number(fraction.padEnd(6, '0'));
}

/** Hands out microseconds that only ever rise, whatever the machine's clock does. */
export interface Clock {
	/** The next stamp: later than every one before it. */
	next(): number;
	/** The newest stamp handed out, without taking one. */
	last(): number;
}

export function risingClock(nowMicros: () => number, startAfter = 0): Clock {
	let last = startAfter;
	return {
		next: () => {
			last = Math.max(nowMicros(), last + 1);
			return last;
		},
		last: () => last,
	};
}

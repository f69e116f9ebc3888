/**
 * The id of a message inside its conversation: `1717200000.123456` on the wire, an integer of microseconds in memory.
 * 16 digits are exact in a double until the year 2255.
 */

const WIRE = /^\d{10}\.\d{6,20}$/;
const LOOSE = /^\d{1,10}(\.\d{1,20})?$/;

/** A stamp in 16 digits. */
export const stampDigits = (micros: number): string => String(micros).padStart(16, '0');

export function formatTs(micros: number): string {
	const digits = stampDigits(micros);
	return `${digits.slice(0, 10)}.${digits.slice(10)}`;
}

/**
 * Accepts the form that messages carry; undefined for anything else. Clients that keep a ts as a floating-point number send more
 * decimals; rounding restores the original ts.
 */
export function parseTs(text: string): number | undefined {
	return WIRE.test(text) ? microsOf(text.slice(0, 10), text.slice(11)) : undefined;
}

/** Bounds of a range can be shorter: `0`, `1717200000`, `1717200000.5`. */
export function parseBound(text: string): number | undefined {
	if (!LOOSE.test(text)) return undefined;
	const [seconds = '0', fraction = ''] = text.split('.');
	return microsOf(seconds, fraction);
}

function microsOf(seconds: string, fraction: string): number {
	const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
	const roundedUp = fraction.length > 6 && fraction.charAt(6) >= '5' ? 1 : 0;
	return Number(seconds) * 1e6 + micros + roundedUp;
}

/** Returns microseconds that only rise, even if the machine's clock steps back. */
export interface Clock {
	/** A new stamp, later than all before it. */
	next(): number;
	/** The newest stamp returned so far. */
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

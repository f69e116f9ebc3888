/**
 * Writes ASCII into a growing buffer. Numbers are written four digits at a time from a table: dividing and storing
 * single digits would dominate the time of large answers.
 */

const DOT = 46;
const HUNDRED_MILLION = 100_000_000;
const MILLION = 1_000_000;

const DIGITS_OF_TWO = new Uint16Array(100);
const DIGITS_OF_FOUR = new Uint32Array(10_000);
const digitAt = (value: number, unit: number): number => 48 + (Math.floor(value / unit) % 10);
for (let value = 0; value < 100; value += 1)
	DIGITS_OF_TWO[value] = digitAt(value, 10) | (digitAt(value, 1) << 8);
for (let value = 0; value < 10_000; value += 1)
	DIGITS_OF_FOUR[value] =
		digitAt(value, 1000) |
		(digitAt(value, 100) << 8) |
		(digitAt(value, 10) << 16) |
		(digitAt(value, 1) << 24);

export class AsciiWriter {
	length = 0;
	private view: DataView;

	/** Writes into this buffer, and into a larger one once it is full. */
	constructor(private bytes: Buffer<ArrayBuffer>) {
		this.view = viewOf(bytes);
	}

	/** The buffer in use now. */
	get buffer(): Buffer<ArrayBuffer> {
		return this.bytes;
	}

	/** A view of what was written so far; later writes change it. */
	written(): Uint8Array<ArrayBuffer> {
		return this.bytes.subarray(0, this.length);
	}

	/** Makes room for `count` bytes. Call it before `text` and `copy`, which do not check for room. */
	reserve(count: number): void {
		const needed = this.length + count;
		if (needed <= this.bytes.length) return;
		const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
		larger.set(this.written());
		this.bytes = larger;
		this.view = viewOf(larger);
	}

	/** Writes a short text that needs no escaping. */
	text(text: string): void {
		const { bytes, length } = this;
		for (let index = 0; index < text.length; index += 1) bytes[length + index] = text.charCodeAt(index);
		this.length = length + text.length;
	}

	copy(part: Uint8Array): void {
		this.bytes.set(part, this.length);
		this.length += part.length;
	}

	/** Removes the last character if it is this one. */
	removeLast(character: number): void {
		if (this.length > 0 && this.bytes[this.length - 1] === character) this.length -= 1;
	}

	/** Overwrites the 17 characters at `at` with a ts, formatted like formatTs. */
	tsAt(at: number, micros: number): void {
		const { view } = this;
		const high = Math.floor(micros / HUNDRED_MILLION);
		const low = (micros - high * HUNDRED_MILLION) | 0;
		const seconds = (low / MILLION) | 0;
		const fraction = low - seconds * MILLION;
		const leading = (fraction / 100) | 0;
		this.eightAt(at, high | 0);
		view.setUint16(at + 8, DIGITS_OF_TWO[seconds] as number, true);
		view.setUint8(at + 10, DOT);
		view.setUint32(at + 11, DIGITS_OF_FOUR[leading] as number, true);
		view.setUint16(at + 15, DIGITS_OF_TWO[fraction - leading * 100] as number, true);
	}

	/** Overwrites the 16 characters at `at` with a position, formatted like formatPosition. */
	stampAt(at: number, micros: number): void {
		const high = Math.floor(micros / HUNDRED_MILLION);
		this.eightAt(at, high | 0);
		this.eightAt(at + 8, (micros - high * HUNDRED_MILLION) | 0);
	}

	private eightAt(at: number, value: number): void {
		const high = (value / 10_000) | 0;
		this.view.setUint32(at, DIGITS_OF_FOUR[high] as number, true);
		this.view.setUint32(at + 4, DIGITS_OF_FOUR[value - high * 10_000] as number, true);
	}
}

const viewOf = (bytes: Buffer<ArrayBuffer>): DataView =>
	new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

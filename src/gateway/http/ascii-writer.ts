/**
 * Writes ASCII into a buffer that grows. Numbers are written four digits at a time, out of a table: dividing
 * and storing them one by one is what writing much of them mostly consists of.
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

	/** Writes into this buffer, and into a larger one when it is full. */
	constructor(private bytes: Buffer<ArrayBuffer>) {
		this.view = viewOf(bytes);
	}

	/** The buffer it writes into now. */
	get buffer(): Buffer<ArrayBuffer> {
		return this.bytes;
	}

	/** What was written so far: a view, which later writing changes. */
	written(): Uint8Array<ArrayBuffer> {
		return this.bytes.subarray(0, this.length);
	}

	/** Makes room for so much. To be called before `text`, `copy` and what is written in place. */
	reserve(count: number): void {
		const needed = this.length + count;
		if (needed <= this.bytes.length) return;
		const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
		larger.set(this.written());
		this.bytes = larger;
		this.view = viewOf(larger);
	}

	/** Short texts without anything that needs escaping. */
	text(text: string): void {
		const { bytes, length } = this;
		for (let index = 0; index < text.length; index += 1) bytes[length + index] = text.charCodeAt(index);
		this.length = length + text.length;
	}

	copy(part: Uint8Array): void {
		this.bytes.set(part, this.length);
		this.length += part.length;
	}

	/** Takes the last character back if it is this one. */
	takeBack(character: number): void {
		if (this.length > 0 && this.bytes[this.length - 1] === character) this.length -= 1;
	}

	/** As formatTs has it, over the 17 characters that stand at `at`. */
	tsAt(at: number, micros: number): void {
		const { view } = this;
		const high = Math.floor(micros / HUNDRED_MILLION);
		const low = (micros - high * HUNDRED_MILLION) | 0;
		const seconds = (low / MILLION) | 0;
		const fraction = low - seconds * MILLION;
		const most = (fraction / 100) | 0;
		this.eightAt(at, high | 0);
		view.setUint16(at + 8, DIGITS_OF_TWO[seconds] as number, true);
		view.setUint8(at + 10, DOT);
		view.setUint32(at + 11, DIGITS_OF_FOUR[most] as number, true);
		view.setUint16(at + 15, DIGITS_OF_TWO[fraction - most * 100] as number, true);
	}

	/** As formatPosition has it, over the 16 characters that stand at `at`. */
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

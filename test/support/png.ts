import { crc32, deflateSync } from 'node:zlib';

/** A picture of one colour, as a PNG. */
export function png(width: number, height: number, [red, green, blue] = [11, 110, 117]): Buffer<ArrayBuffer> {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	// 8 bits for each of three colours.
	header.set([8, 2, 0, 0, 0], 8);
	const row = Buffer.from([0, ...Array.from({ length: width }, () => [red, green, blue]).flat()]);
	const rows = Buffer.concat(Array.from({ length: height }, () => row));
	return Buffer.concat([
		Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
		chunk('IHDR', header),
		chunk('IDAT', deflateSync(rows)),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

function chunk(type: string, data: Buffer): Buffer<ArrayBuffer> {
	const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const length = Buffer.alloc(4);
	length.writeUInt32BE(data.length);
	const sum = Buffer.alloc(4);
	sum.writeUInt32BE(crc32(body));
	return Buffer.concat([length, body, sum]);
}

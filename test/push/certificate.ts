import { generateKeyPairSync, sign } from 'node:crypto';

/** A certificate for localhost, created for each run, so that the repository contains nothing that looks like a secret. */

const der = (tag: number, ...parts: (Buffer | number[])[]): Buffer => {
	const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
	const size = body.length;
	const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
	return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: (Buffer | number[])[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const utcTime = (date: Date): Buffer =>
	der(0x17, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
const pem = (name: string, bytes: Buffer): string =>
	`-----BEGIN ${name}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${name}-----\n`;

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const NAME = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('localhost')))));
const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), der(0x04, value));

export function certificateForLocalhost(): { readonly key: string; readonly cert: string } {
	const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const day = 86_400_000;
	const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, [127, 0, 0, 1]));
	const body = sequence(
		der(0xa0, der(0x02, [2])),
		der(0x02, [1]),
		ECDSA_SHA256,
		NAME,
		sequence(utcTime(new Date(Date.now() - day)), utcTime(new Date(Date.now() + day))),
		NAME,
		publicKey.export({ type: 'spki', format: 'der' }),
		der(0xa3, sequence(extension('551d11', names), extension('551d13', sequence(der(0x01, [255]))))),
	);
	const signature = sign('sha256', body, privateKey);
	const certificate = sequence(body, ECDSA_SHA256, der(0x03, [0], signature));
	return {
		key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
		cert: pem('CERTIFICATE', certificate),
	};
}

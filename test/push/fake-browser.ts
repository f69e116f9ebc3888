import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';

/** A browser's side of a subscription: its keys and the decryption of pushes (RFC 8291), written from the RFC. */

const RECORD_HEAD = 21;
const TAG_BYTES = 16;

export class FakeBrowser {
	private readonly curve: ECDH = createECDH('prime256v1');
	private readonly secret = randomBytes(16);

	constructor(
		readonly endpoint: string,
		/** The server that the browser subscribed to; no other may send to it. */
		readonly serverKey: string,
	) {
		this.curve.generateKeys();
	}

	/** The result of PushSubscription.toJSON(). */
	subscription(): string {
		return JSON.stringify({
			endpoint: this.endpoint,
			expirationTime: null,
			keys: {
				p256dh: this.curve.getPublicKey().toString('base64url'),
				auth: this.secret.toString('base64url'),
			},
		});
	}

	decrypt(body: Buffer): string {
		const salt = body.subarray(0, 16);
		const recordSize = body.readUInt32BE(16);
		const keyEnd = RECORD_HEAD + (body[20] ?? 0);
		const theirs = body.subarray(RECORD_HEAD, keyEnd);
		const record = body.subarray(keyEnd);
		if (record.length > recordSize) throw new Error('more than one record');
		const info = Buffer.concat([text('WebPush: info'), this.curve.getPublicKey(), theirs]);
		const shared = derive(this.curve.computeSecret(theirs), this.secret, info, 32);
		const key = derive(shared, salt, text('Content-Encoding: aes128gcm'), 16);
		const nonce = derive(shared, salt, text('Content-Encoding: nonce'), 12);
		const cipher = createDecipheriv('aes-128-gcm', key, nonce);
		cipher.setAuthTag(record.subarray(-TAG_BYTES));
		const plain = Buffer.concat([cipher.update(record.subarray(0, -TAG_BYTES)), cipher.final()]);
		const end = plain.findLastIndex((byte) => byte !== 0);
		// 2 ends the last record; the zeros after it are padding.
		if (plain[end] !== 2) throw new Error('the last record does not end as one');
		return plain.subarray(0, end).toString('utf8');
	}
}

const text = (words: string): Buffer => Buffer.from(`${words}\0`);
const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
	Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));

import type { RandomBytes } from '../../model/ids.ts';

/** Where an incoming webhook takes messages: the last part of its address is the secret. */

const SECRET_BYTES = 18;
export const WEBHOOK_PATH = '/services/';

export const newWebhookSecret = (random: RandomBytes): string =>
	Buffer.from(random(SECRET_BYTES)).toString('base64url').replace(/[-_]/g, 'x');

export const webhookUrl = (base: string, team: string, id: string, secret: string): string =>
	`${base.replace(/\/+$/, '')}${WEBHOOK_PATH}${team}/${id}/${secret}`;

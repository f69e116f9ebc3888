import { createHmac } from 'node:crypto';

/** How Slack signs what it sends to an app: an HMAC over the time and the body, under the app's signing secret. */
export function signatureHeaders(secret: string, body: string, nowSeconds: number): Record<string, string> {
	const digest = createHmac('sha256', secret).update(`v0:${nowSeconds}:${body}`).digest('hex');
	return { 'x-slack-request-timestamp': String(nowSeconds), 'x-slack-signature': `v0=${digest}` };
}

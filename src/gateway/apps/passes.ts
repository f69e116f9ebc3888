import { timingSafeEqual } from 'node:crypto';
import { Rejection } from '../../model/errors.ts';
import { parseJsonObject } from '../../protocol/objects.ts';
import { nullIfRejected } from '../http/access.ts';
import type { Services } from '../services.ts';

/**
 * Signed passes that let an app answer: a trigger_id that opens a view, and the last part of a response_url. A pass carries its
 * own data and is signed with the workspace's secret, so issuing one does not write to the store.
 */

export interface Pass {
	readonly team: string;
	readonly app: string;
	readonly user: string;
	/** Expiry, in ms. */
	readonly until: number;
	readonly nonce: string;
	/** The view that the user had open. */
	readonly view?: string;
}

/** Lets an app answer in a conversation, and replace the message that the action was about. */
export interface ResponsePass extends Pass {
	readonly channel: string;
	readonly ts?: string;
	/** Only this user saw the message. */
	readonly ephemeral?: boolean;
	readonly threadTs?: string;
}

export const TRIGGER_MS = 10_000;
export const RESPONSE_MS = 30 * 60_000;
/** A trigger opens one view. */
const MAX_USES: Readonly<Record<Purpose, number>> = { trigger: 1, response: 5 };
const NONCE_BYTES = 9;

type Purpose = 'trigger' | 'response';
type Signing = Pick<Services, 'teamSecrets' | 'random' | 'apps'>;

export async function issuePass(
	{ teamSecrets, random }: Pick<Services, 'teamSecrets' | 'random'>,
	purpose: Purpose,
	pass: Omit<ResponsePass, 'nonce' | 'until' | 'channel'> & { readonly channel?: string },
): Promise<string> {
	const until = Date.now() + (purpose === 'trigger' ? TRIGGER_MS : RESPONSE_MS);
	const nonce = newNonce(random);
	const text = Buffer.from(JSON.stringify({ ...pass, until, nonce })).toString('base64url');
	const digest = await teamSecrets.digestFor(pass.team, `app ${purpose}`);
	return `${text}.${Buffer.from(digest(text)).toString('base64url')}`;
}

const newNonce = (random: Services['random']): string =>
	Buffer.from(random(NONCE_BYTES)).toString('base64url');

/** Stored ids of passes begin with these. */
const STORED_AS: Readonly<Record<Purpose, string>> = { trigger: 't', response: 'r' };

/** Resolves to false if the pass is used up. */
const usePass = (
	{ apps, random }: Signing,
	purpose: Purpose,
	{ team, nonce, until }: Pass,
): Promise<boolean> =>
	apps.use(
		{ id: `${STORED_AS[purpose]} ${nonce}`, team, untilAt: until + TRIGGER_MS, most: MAX_USES[purpose] },
		newNonce(random),
	);

/** Null: the signature is invalid or for another purpose, or there is no such workspace. */
async function verifiedPass<P extends Pass>(
	services: Signing,
	purpose: Purpose,
	text: string,
): Promise<P | null> {
	const [body = '', signature = ''] = text.split('.');
	const pass = parseJsonObject(Buffer.from(body, 'base64url').toString('utf8')) as P | null;
	if (typeof pass?.team !== 'string' || !/^T[A-Z0-9]{2,20}$/.test(pass.team)) return null;
	const digest = await nullIfRejected(services.teamSecrets.digestFor(pass.team, `app ${purpose}`), [
		'team_not_found',
	]);
	if (!digest) return null;
	const expected = Buffer.from(digest(body));
	const given = Buffer.from(signature, 'base64url');
	return given.length === expected.length && timingSafeEqual(given, expected) ? pass : null;
}

export async function redeemTrigger(services: Signing, app: string, text: string): Promise<Pass> {
	const pass = await verifiedPass<Pass>(services, 'trigger', text);
	if (!pass || pass.app !== app)
		throw new Rejection('invalid_trigger_id', 'trigger_id: not issued to this app');
	if (pass.until < Date.now())
		throw new Rejection('expired_trigger_id', 'trigger_id: expired; use it within 10 s of the action');
	if (!(await usePass(services, 'trigger', pass)))
		throw new Rejection('exchanged_trigger_id', 'trigger_id: already used');
	return pass;
}

/** Null: unknown, expired, or used up. */
export async function redeemResponse(services: Signing, text: string): Promise<ResponsePass | null> {
	const pass = await verifiedPass<ResponsePass>(services, 'response', text);
	if (!pass || pass.until < Date.now()) return null;
	return (await usePass(services, 'response', pass)) ? pass : null;
}

import type { Invite } from '../../engine/ports/invites.ts';
import { hashToken } from '../auth/tokens.ts';
import type { Call } from './method.ts';
import { webUrl } from './origin.ts';

/** Creates an invite and the link with its secret. Only the hash is stored, so the link cannot be shown again. */

const SECRET_BYTES = 32;

export async function newInvite(
	{ services, request }: Call,
	asked: Pick<Invite, 'team' | 'user' | 'label' | 'creator'>,
	seconds: number,
): Promise<{ readonly invite: Invite; readonly url: string }> {
	const secret = `inv-${Buffer.from(services.random(SECRET_BYTES)).toString('base64url')}`;
	const createdTs = services.clock.next();
	const invite: Invite = {
		...asked,
		hash: hashToken(secret),
		createdTs,
		expiresTs: createdTs + seconds * 1e6,
		revokedTs: null,
		usedTs: null,
	};
	// In the fragment, which browsers do not send: no proxy and no log sees it.
	const url = `${webUrl(request)}#invite=${secret}`;
	await services.directory.createInvite(invite);
	return { invite, url };
}

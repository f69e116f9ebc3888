import { ApiError, createClient, isTokenRejected } from '@tidemark/client';

/** Calls made before anybody is signed in. */

export interface Invitation {
	readonly team: { readonly id: string; readonly name: string };
	readonly user?: { readonly id: string; readonly name: string; readonly real_name: string };
	readonly expires_at: number;
}

const anonymous = () => createClient({ token: 'none' });

export const fetchInvite = (invite: string): Promise<Invitation> =>
	anonymous().call('invites.info', { invite });

export interface Accepted {
	readonly token: string;
	/** The workspace's general channel, if a new user joined it. */
	readonly general_channel?: string;
}

export const acceptInvite = (invite: string, realName: string, device: string): Promise<Accepted> =>
	anonymous().call('invites.accept', { invite, real_name: realName, device });

/** The user and workspace of a token; null if the server rejects the token. Throws if the server cannot say. */
export async function identityOf(
	token: string,
): Promise<{ readonly user: string; readonly team: string } | null> {
	try {
		return await createClient({ token }).call('auth.test');
	} catch (error) {
		if (error instanceof ApiError && isTokenRejected(error.code)) return null;
		throw error;
	}
}

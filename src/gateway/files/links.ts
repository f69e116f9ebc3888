import { timingSafeEqual } from 'node:crypto';
import type { User } from '../../engine/ports/store.ts';
import type { Services } from '../services.ts';

/**
 * Signed addresses of files, for `<img>` and `<a>`, which send no token. A link names one file, one user and its
 * expiry; whether the user may read the file is checked on every use. All links made within a quarter of an hour
 * expire together, so that a page gets the same address again and the browser's cache works.
 */

const STEP_SECONDS = 15 * 60;

/** Expiry of a new link: 15 to 30 minutes from now. */
export const linkExpiry = (nowMs: number): number =>
	(Math.floor(nowMs / 1000 / STEP_SECONDS) + 2) * STEP_SECONDS;

type Secrets = Pick<Services, 'teamSecrets'>;

/** The query of a link. */
export async function linkQuery(
	{ teamSecrets }: Secrets,
	file: { readonly id: string; readonly team: string },
	user: string,
	end: number,
): Promise<string> {
	const digest = await teamSecrets.digestFor(file.team, 'file link');
	const signature = Buffer.from(digest(`${file.id} ${user} ${end}`)).toString('base64url');
	return `user=${user}&expires=${end}&signature=${signature}`;
}

/** The user that a link was made for. Null: the link is forged or expired, or the user is deactivated. */
export async function linkHolder(
	services: Secrets & Pick<Services, 'directory'>,
	file: { readonly id: string; readonly team: string },
	query: ReadonlyMap<string, unknown>,
	nowMs: number,
): Promise<User | null> {
	const [id, end] = [String(query.get('user') ?? ''), Number(query.get('expires'))];
	if (!(end * 1000 > nowMs) || end > linkExpiry(nowMs)) return null;
	const team = await services.directory.team(file.team);
	if (!team) return null;
	const expected = Buffer.from(await linkQuery(services, file, id, end));
	const given = Buffer.from(`user=${id}&expires=${end}&signature=${String(query.get('signature') ?? '')}`);
	if (expected.length !== given.length || !timingSafeEqual(expected, given)) return null;
	const [user] = await services.directory.users([id]);
	return user && user.team === file.team && !user.deleted ? user : null;
}

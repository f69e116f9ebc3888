import type { Apps } from '../../engine/ports/apps.ts';
import type { Directory, User } from '../../engine/ports/store.ts';
import { Rejection } from '../../model/errors.ts';
import type { Caller, UserCaller } from './caller.ts';
import type { JwtClaims, JwtVerifier } from './jwt.ts';
import type { TokenUses } from './token-uses.ts';
import { hashToken, isAppLevel, isOpaque, looksLikeJwt, sameHash, tokenKey } from './tokens.ts';

/**
 * Finds the caller that a token belongs to. Verified tokens are cached, so a busy client costs neither a read of
 * the store nor a signature check; `forget` removes a revoked token at once. While the store cannot be read, cached
 * tokens stay valid for longer.
 */

export interface AuthenticatorOptions {
	readonly directory: Pick<Directory, 'token' | 'users'>;
	readonly adminToken: string;
	/** App-level tokens; absent: there are none. */
	readonly apps?: Pick<Apps, 'token'>;
	/** Null: JWTs are not accepted. */
	readonly jwt: JwtVerifier | null;
	readonly nowMs: () => number;
	/** Called with each token that is looked up; absent: last use is not recorded. */
	readonly uses?: Pick<TokenUses, 'note'>;
	/** Maximum number of cached tokens. */
	readonly capacity?: number;
	/** How long a token is cached: bounds the effect of a missed revocation. */
	readonly cacheMs?: number;
}

interface CachedCaller {
	readonly caller: UserCaller;
	/** After this, the token is looked up again. */
	readonly until: number;
	/** Until then the entry is valid while the store cannot be read. */
	readonly withoutStoreUntil: number;
}

/** The user whom a ticket admits, and the token that it was issued for. */
interface Admitted {
	readonly user: string;
	readonly tokenKey: string;
	/** Ms. */
	readonly issuedAt: number;
}

/** Long enough for an operator to end an outage of the store. */
const WITHOUT_STORE_MS = 60 * 60 * 1000;

const ADMIN: Caller = { kind: 'admin' };

/**
 * Whether the user signed out after the token was issued. For JWTs only: signing out revokes each opaque token in the
 * store, and those carry stamps of another clock. `iat` is in seconds, so a JWT issued in the second of the sign-out
 * counts as issued before it.
 */
const isSignedOut = ({ signedOutTs }: User, issuedAtMs: number): boolean =>
	signedOutTs > 0 && issuedAtMs * 1000 <= signedOutTs;

export class Authenticator {
	/** By the hash of the whole token, so that a JWT with another signature is verified separately. */
	private readonly cached = new Map<string, CachedCaller>();
	/** Number of calls of `forget…`. A look-up that began before the last of them must not be cached. */
	private forgets = 0;
	private readonly adminHash: string;
	private readonly capacity: number;
	private readonly cacheMs: number;

	constructor(private readonly options: AuthenticatorOptions) {
		if (options.adminToken === '') throw new Error('the administrator’s token is empty');
		this.adminHash = hashToken(options.adminToken);
		this.capacity = options.capacity ?? 20_000;
		this.cacheMs = options.cacheMs ?? 60_000;
	}

	/**
	 * Throws a Rejection: not_authed, invalid_auth, token_expired, token_revoked or account_inactive. Before a token
	 * that is not cached is looked up, `beforeLookUp` may throw to prevent it. It gets the user of an expired cache
	 * entry, or null for an unknown token.
	 */
	identify(
		token: string | null,
		beforeLookUp?: (cached: UserCaller | null) => void,
	): Caller | Promise<Caller> {
		if (token === null || token === '') throw new Rejection('not_authed');
		const hash = hashToken(token);
		const found = this.cached.get(hash);
		const now = this.options.nowMs();
		if (found && found.until > now) return found.caller;
		if (sameHash(hash, this.adminHash)) return ADMIN;
		beforeLookUp?.(found && found.withoutStoreUntil > now ? found.caller : null);
		if (isAppLevel(token)) return this.appWithToken(hash);
		return this.lookUp(token, hash).catch((error) => this.cachedDuringOutage(hash, error));
	}

	/** Not cached: an app uses its token once for each socket. */
	private async appWithToken(hash: string): Promise<Caller> {
		const token = await this.options.apps?.token(hash);
		if (!token) throw new Rejection('invalid_auth');
		if (token.revokedTs > 0) throw new Rejection('token_revoked');
		return { kind: 'app', app: token.app, team: token.team, tokenKey: hash };
	}

	/** Falls back to the cache if the store is unavailable; a revoked or expired token stays rejected. */
	private cachedDuringOutage(hash: string, error: unknown): Caller {
		const found = this.cached.get(hash);
		const isUnavailable = error instanceof Rejection && error.code === 'service_unavailable';
		if (found && isUnavailable && found.withoutStoreUntil > this.options.nowMs()) return found.caller;
		this.cached.delete(hash);
		throw error;
	}

	/** Called when the token with this key was revoked. */
	forget(key: string): void {
		this.forgetWhere((caller) => caller.tokenKey === key);
	}

	/** Called when all tokens of this user were revoked, or the user was deactivated. */
	forgetUser(user: string): void {
		this.forgetWhere((caller) => caller.user.id === user);
	}

	private forgetWhere(isRevoked: (caller: UserCaller) => boolean): void {
		this.forgets += 1;
		for (const [hash, { caller }] of this.cached) if (isRevoked(caller)) this.cached.delete(hash);
	}

	/**
	 * Whether a ticket is still valid: the token may have been revoked, or the user deactivated, since it was issued.
	 */
	async isStillValid(admission: Admitted): Promise<boolean> {
		const { directory } = this.options;
		const [token, [user]] = await Promise.all([
			directory.token(admission.tokenKey),
			directory.users([admission.user]),
		]);
		if (user === undefined || user.deleted) return false;
		// The store contains only opaque tokens and revoked JWTs.
		return token === null ? !isSignedOut(user, admission.issuedAt) : token.revokedTs === null;
	}

	/** Evicts expired tokens; call it periodically. */
	sweep(): void {
		const now = this.options.nowMs();
		for (const [hash, { withoutStoreUntil }] of this.cached)
			if (withoutStoreUntil <= now) this.cached.delete(hash);
	}

	/** Forgets every token, because revocations may have been missed. */
	forgetAll(): void {
		this.forgets += 1;
		this.cached.clear();
	}

	/** The user of a token, even a revoked one; null: the token is unknown, or an invalid or expired JWT. */
	async userOfToken(token: string): Promise<{ readonly user: string; readonly team: string } | null> {
		const stored = await this.options.directory.token(tokenKey(token));
		if (stored) return { user: stored.user, team: stored.team };
		if (!this.options.jwt || !looksLikeJwt(token)) return null;
		return this.options.jwt.verify(token).catch((error) => {
			if (error instanceof Rejection && error.code === 'service_unavailable') throw error;
			return null;
		});
	}

	private async lookUp(token: string, hash: string): Promise<Caller> {
		const forgetsBefore = this.forgets;
		// The key of an opaque token equals its hash. Use the same string for both, because every cached token
		// and every socket keeps the key in memory.
		const key = looksLikeJwt(token) ? tokenKey(token) : hash;
		const { user, team, expiresAt, issuedAt } = await this.claimsOf(token, key);
		const account = await this.account(user, team);
		if (!isOpaque(token) && isSignedOut(account, issuedAt)) throw new Rejection('token_revoked');
		const caller: UserCaller = {
			kind: 'user',
			user: account,
			team: account.team,
			tokenKey: key,
			expiresAt,
			issuedAt,
		};
		if (this.forgets === forgetsBefore) this.cache(hash, caller);
		return caller;
	}

	private async claimsOf(token: string, key: string): Promise<JwtClaims> {
		const { directory, jwt } = this.options;
		const isJwt = jwt !== null && looksLikeJwt(token);
		if (!isJwt && !isOpaque(token)) throw new Rejection('invalid_auth');
		const claims = isJwt ? await jwt.verify(token) : null;
		// A JWT is in the store only if it was revoked; earlier versions stored the hash of the whole token.
		const stored = (await directory.token(key)) ?? (claims && (await directory.token(hashToken(token))));
		if (stored && stored.revokedTs !== null) throw new Rejection('token_revoked');
		if (claims) return claims;
		if (!stored) throw new Rejection('invalid_auth');
		const expiresAt = stored.expiresTs === null ? Number.POSITIVE_INFINITY : stored.expiresTs / 1000;
		const now = this.options.nowMs();
		if (expiresAt <= now) throw new Rejection('token_expired');
		this.options.uses?.note(stored, now * 1000);
		return { user: stored.user, team: stored.team, expiresAt, issuedAt: stored.createdTs / 1000 };
	}

	private async account(id: string, team: string): Promise<User> {
		const [user] = await this.options.directory.users([id]);
		if (!user || user.team !== team) throw new Rejection('invalid_auth');
		if (user.deleted) throw new Rejection('account_inactive');
		return user;
	}

	private cache(hash: string, caller: UserCaller): void {
		if (this.cached.size >= this.capacity) {
			// Drop the token that was verified longest ago; a busy client's token returns with its next request.
			for (const oldest of this.cached.keys()) {
				this.cached.delete(oldest);
				break;
			}
		}
		const now = this.options.nowMs();
		// Delete and insert, so that it is last in the order of verification.
		this.cached.delete(hash);
		this.cached.set(hash, {
			caller,
			until: Math.min(now + this.cacheMs, caller.expiresAt),
			withoutStoreUntil: Math.min(now + WITHOUT_STORE_MS, caller.expiresAt),
		});
	}
}

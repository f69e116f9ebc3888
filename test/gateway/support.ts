import type { Token, User } from '../../src/engine/ports/store.ts';
import type { Admission } from '../../src/engine/ports/tickets.ts';
import { Authenticator, type AuthenticatorOptions } from '../../src/gateway/auth/authenticator.ts';
import { tokenKey } from '../../src/gateway/auth/tokens.ts';
import type { Socket } from '../../src/gateway/socket/connection.ts';
import { type ErrorCode, Rejection } from '../../src/model/errors.ts';
import type { RandomBytes } from '../../src/model/ids.ts';

/** What the gateway's tests share: a clock that tests move, known users, and a directory of them. */

export const ADMIN_TOKEN = 'xoxa-the-administrators-own-token';
export const TEAM = 'T0000000001';

export const userNamed = (id: string, more: Partial<User> = {}): User => ({
	id,
	team: TEAM,
	name: id.toLowerCase(),
	realName: '',
	email: '',
	isBot: false,
	deleted: false,
	updatedTs: 0,
	signedOutTs: 0,
	profile: {},
	snoozedUntilTs: 0,
	...more,
});

/** The admission of a user with a token that does not expire. */
export const admissionOf = (user: User, options: Admission['options'] = { since: 0 }): Admission => ({
	user,
	team: TEAM,
	tokenKey: 'h',
	expiresAt: Number.POSITIVE_INFINITY,
	issuedAt: 0,
	options,
});

export const random: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));

/** A socket whose client reads everything at once. */
export const readingSocket = (send: (frame: string) => number): Socket => ({
	send,
	ping: () => 1,
	cork: (callback) => callback(),
	close: () => undefined,
	getBufferedAmount: () => 0,
});

export class HandClock {
	ms = 1_700_000_000_000;
	readonly now = (): number => this.ms;
	pass(ms: number): void {
		this.ms += ms;
	}
}

/** Users and tokens in memory; counts how often it was read. */
export class SmallDirectory {
	readonly people = new Map<string, User>();
	readonly kept = new Map<string, Token>();
	asked = 0;
	/** When true, every read fails. */
	isDown = false;

	add(user: User, token?: string): this {
		this.people.set(user.id, user);
		if (token !== undefined) this.keep(token, user);
		return this;
	}

	keep(token: string, user: User, revokedTs: number | null = null): void {
		const hash = tokenKey(token);
		this.kept.set(hash, { hash, user: user.id, team: user.team, createdTs: 1, revokedTs, expiresTs: null });
	}

	private ask(): void {
		this.asked += 1;
		if (this.isDown) throw new Rejection('service_unavailable');
	}

	async token(hash: string): Promise<Token | null> {
		this.ask();
		return this.kept.get(hash) ?? null;
	}

	async users(ids: readonly string[]): Promise<readonly User[]> {
		this.ask();
		return ids.flatMap((id) => this.people.get(id) ?? []);
	}
}

export const authenticator = (
	directory: SmallDirectory,
	clock: HandClock,
	more: Partial<AuthenticatorOptions> = {},
): Authenticator =>
	new Authenticator({ directory, adminToken: ADMIN_TOKEN, jwt: null, nowMs: clock.now, ...more });

/** The code of the error. */
export async function rejectionOf(work: () => unknown): Promise<ErrorCode> {
	return (await caught(work)).code;
}

export async function detailOf(work: () => unknown): Promise<string | undefined> {
	return (await caught(work)).detail;
}

async function caught(work: () => unknown): Promise<Rejection> {
	try {
		await work();
	} catch (error) {
		if (error instanceof Rejection) return error;
		throw error;
	}
	throw new Error('was not rejected');
}

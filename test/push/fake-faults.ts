/** What the providers do wrong on purpose: by how a device's token begins, or for everybody. */

export interface Faults {
	/** Every request is refused as if the key was wrong, or the account revoked. */
	revoked: boolean;
	/** After so many requests the connection is ended by GOAWAY, with what came last not looked at; 0: never. */
	goAwayEvery: number;
	/** After so many requests the connection is cut, with everything on it taken and not answered; 0: never. */
	cutEvery: number;
}

export const noFaults = (): Faults => ({ revoked: false, goAwayEvery: 0, cutEvery: 0 });

export type Fault = { readonly status: number; readonly reason: string; readonly retryAfter?: string };

export class FaultyTokens {
	private readonly tries = new Map<string, number>();

	/** `gone-…`, `bad-…`, `large-…`, `never-…`, `throttled-2-…`: the last for so many tries. Null: nothing is wrong. */
	of(token: string): Fault | null {
		const tries = (this.tries.get(token) ?? 0) + 1;
		const [, kind, times] = /^(gone|bad|large|never|failing|throttled|topic)(?:-(\d+))?-/.exec(token) ?? [];
		if (kind === undefined) return null;
		this.tries.set(token, tries);
		if (kind === 'gone') return { status: 410, reason: 'Unregistered' };
		if (kind === 'bad') return { status: 400, reason: 'BadDeviceToken' };
		if (kind === 'large') return { status: 413, reason: 'PayloadTooLarge' };
		if (kind === 'topic') return { status: 400, reason: 'DeviceTokenNotForTopic' };
		if (kind === 'never') return { status: 500, reason: 'InternalServerError' };
		if (tries > Number(times)) return null;
		return kind === 'failing'
			? { status: 500, reason: 'InternalServerError' }
			: { status: 429, reason: 'TooManyRequests', retryAfter: '1' };
	}
}

/** Deliberate faults of the providers: chosen by the prefix of a device token, or for all devices. */

export interface Faults {
	/** Every request is rejected as if the key were wrong or the account revoked. */
	revoked: boolean;
	/** After this many requests GOAWAY ends the connection, and the last ones are not processed; 0: never. */
	goAwayEvery: number;
	/** After this many requests the connection is cut: all requests were accepted, and none answered; 0: never. */
	cutEvery: number;
}

export const noFaults = (): Faults => ({ revoked: false, goAwayEvery: 0, cutEvery: 0 });

export type Fault = { readonly status: number; readonly reason: string; readonly retryAfter?: string };

export class FaultyTokens {
	private readonly tries = new Map<string, number>();

	/**
	 * By the prefix `gone-…`, `bad-…`, `large-…`, `never-…` or `throttled-2-…`, the last for that many attempts. Null:
	 * no fault.
	 */
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

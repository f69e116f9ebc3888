/** A credential that is good for a while: made when it is needed, and again before it ends. */
export class CachedToken {
	private current: { readonly token: Promise<string>; until: number } | null = null;

	constructor(
		/** Answers with the token and for how long it is good. */
		private readonly make: () => Promise<{ readonly token: string; readonly forMs: number }>,
		private readonly nowMs: () => number,
	) {}

	get(): Promise<string> {
		if (this.current && this.nowMs() < this.current.until) return this.current.token;
		const making = this.make();
		const entry = { token: making.then(({ token }) => token), until: Number.POSITIVE_INFINITY };
		this.current = entry;
		making.then(
			({ forMs }) => {
				entry.until = this.nowMs() + forMs;
			},
			() => this.forget(entry),
		);
		return entry.token;
	}

	/** It was rejected: the next one is created again. */
	drop(): void {
		this.current = null;
	}

	private forget(entry: object): void {
		if (this.current === entry) this.current = null;
	}
}

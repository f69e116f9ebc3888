/** A credential with a limited lifetime: created on demand and renewed before it expires. */
export class CachedToken {
	private current: { readonly token: Promise<string>; until: number } | null = null;

	constructor(
		/** Returns a token and how long to use it. */
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

	/** Called when the provider rejected the token: the next call creates a new one. */
	drop(): void {
		this.current = null;
	}

	private forget(entry: object): void {
		if (this.current === entry) this.current = null;
	}
}

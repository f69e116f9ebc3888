/** Work that nobody waits for: its failure is nobody's, but that it ends can be waited for. */
export class Background {
	private readonly underWay = new Set<Promise<unknown>>();

	readonly run = (work: Promise<unknown>): void => {
		const done: Promise<unknown> = work
			.catch(() => undefined)
			.finally(() => {
				this.underWay.delete(done);
			});
		this.underWay.add(done);
	};

	get isIdle(): boolean {
		return this.underWay.size === 0;
	}

	async done(): Promise<void> {
		await Promise.all(this.underWay);
	}
}

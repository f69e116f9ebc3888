/** How many sockets are open from each address. Those behind a proxy that names no client are not counted. */
export class SocketAddresses {
	private readonly counts = new Map<string, number>();
	private readonly addressOf = new Map<object, string>();

	count(address: string | null): number {
		return address === null ? 0 : (this.counts.get(address) ?? 0);
	}

	opened(socket: object, address: string | null): void {
		if (address === null) return;
		this.addressOf.set(socket, address);
		this.counts.set(address, this.count(address) + 1);
	}

	closed(socket: object): void {
		const address = this.addressOf.get(socket);
		if (address === undefined) return;
		this.addressOf.delete(socket);
		const left = this.count(address) - 1;
		if (left > 0) this.counts.set(address, left);
		else this.counts.delete(address);
	}
}

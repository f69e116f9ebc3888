/** What phones would show, by the same rules for both providers. Pure, so that the counts can be trusted. */

export interface Phone {
	/** The notifications on the lock screen, by name. A second one with the same name replaces the first. */
	readonly shown: Map<string, { readonly title: string; readonly body: string }>;
	badge: number;
	/** Number of notifications that arrived, including replacements. */
	received: number;
	/** Number of notifications that were removed because the message was read elsewhere. */
	withdrawn: number;
	/** Silent updates: time and badge. */
	readonly updates: { readonly at: number; readonly badge: number }[];
}

export class Phones {
	readonly all = new Map<string, Phone>();
	/** Notifications that replaced one: sent again because the first one was not acknowledged. */
	repeated = 0;
	/** A second notification of a message under another name, which must not happen. */
	doubled = 0;
	private readonly messages = new Map<string, string>();

	of(token: string): Phone {
		let phone = this.all.get(token);
		if (!phone) {
			phone = { shown: new Map(), badge: 0, received: 0, withdrawn: 0, updates: [] };
			this.all.set(token, phone);
		}
		return phone;
	}

	show(
		token: string,
		name: string,
		message: string,
		alert: { title: string; body: string },
		badge: number,
	): void {
		const phone = this.of(token);
		const key = `${token} ${message}`;
		const earlier = this.messages.get(key);
		if (earlier === undefined) this.messages.set(key, name);
		else if (earlier === name) this.repeated += 1;
		else this.doubled += 1;
		phone.shown.set(name, alert);
		phone.badge = badge;
		phone.received += 1;
	}

	update(token: string, names: readonly string[], badge: number): void {
		const phone = this.of(token);
		for (const name of names) if (phone.shown.delete(name)) phone.withdrawn += 1;
		phone.badge = badge;
		phone.updates.push({ at: Date.now(), badge });
	}

	counts() {
		const phones = [...this.all.values()];
		const sum = (of: (phone: Phone) => number) => phones.reduce((total, phone) => total + of(phone), 0);
		return {
			/** The number of different pairs of message and device. */
			sent: this.messages.size,
			repeated: this.repeated,
			doubled: this.doubled,
			withdrawn: sum((phone) => phone.withdrawn),
			showing: sum((phone) => phone.shown.size),
			updates: sum((phone) => phone.updates.length),
		};
	}
}

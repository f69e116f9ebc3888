import { afterAll, afterEach, beforeEach, describe } from 'bun:test';
import type { Store } from '../../../src/engine/ports/store.ts';
import { accountCases } from './account-cases.ts';
import { appCases } from './app-cases.ts';
import { changesCases } from './changes-cases.ts';
import { directoryCases } from './directory-cases.ts';
import { historyCases } from './history-cases.ts';
import { ledgerCases } from './ledger-cases.ts';
import { pinCases, scheduledCases } from './pin-cases.ts';
import { reactionCases } from './reaction-cases.ts';
import { sourceCases } from './source-cases.ts';

/** What every store guarantees, tested through its port alone. */

/** A separate database, empty at first. */
export interface StoreUnderTest {
	open(): Promise<Store>;
	remove(): Promise<void>;
}

/** The store under test: `store` is open; `reopen` closes it and opens the same data again. */
export interface Subject {
	readonly store: Store;
	reopen(): Promise<Store>;
	/** A second store with its own data. */
	another(): Promise<Store>;
}

export function describeStoreContract(name: string, place: () => Promise<StoreUnderTest>): void {
	describe(`store contract on ${name}`, () => {
		const opened: { place: StoreUnderTest; store: Store }[] = [];
		const open = async (): Promise<Store> => {
			const fresh = await place();
			const store = await fresh.open();
			opened.push({ place: fresh, store });
			return store;
		};
		const first = () => {
			const [entry] = opened;
			if (entry === undefined) throw new Error('no store is open');
			return entry;
		};
		const subject: Subject = {
			get store() {
				return first().store;
			},
			async reopen() {
				const entry = first();
				await entry.store.close();
				entry.store = await entry.place.open();
				return entry.store;
			},
			another: open,
		};

		let cases = 0;
		beforeEach(async () => {
			cases += 1;
			await open();
		});
		afterAll(() => console.log(`contract: ${cases} cases of the store on ${name}`));
		afterEach(async () => {
			for (const entry of opened.splice(0)) {
				await entry.store.close();
				await entry.place.remove();
			}
		});

		accountCases(subject);
		appCases(subject);
		directoryCases(subject);
		historyCases(subject);
		sourceCases(subject);
		ledgerCases(subject);
		changesCases(subject);
		reactionCases(subject);
		pinCases(subject);
		scheduledCases(subject);
	});
}

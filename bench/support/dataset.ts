import { openSqliteStore } from '../../src/engine/embedded/sqlite/open.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { hashToken } from '../../src/gateway/auth/tokens.ts';
import { type Conversation, NO_CHANNEL_TEXT } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/message.ts';
import { message } from '../../test/support/store/facts.ts';

/**
 * Fills a data directory before a server starts on it: with the facts that a server would have written, through the same
 * ledger, without a request for each. Stamps are in the past, a millisecond apart.
 */

export const TEAM = 'TBENCH';

const STEP_MICROS = 1_000;
const BATCH_SIZE = 4_000;
/** The stamps of every scenario cover less time than this, so all of them are before the server's start. */
const PAST_SECONDS = 30_000;

const padded = (prefix: string, index: number): string =>
	`${prefix}${index.toString(36).toUpperCase().padStart(10, '0')}`;

export const userId = (index: number): string => padded('U', index);
export const channelId = (index: number): string => padded('C', index);
export const tokenOf = (user: string): string => `xoxp-${user.padEnd(43, '-')}`;

export const usersFrom = (first: number, count: number): string[] =>
	Array.from({ length: count }, (_, index) => userId(first + index));

export class Dataset {
	private at = (Math.floor(Date.now() / 1000) - PAST_SECONDS) * 1e6;
	private conversations = 0;

	private constructor(private readonly store: Store) {}

	static async open(dataDir: string): Promise<Dataset> {
		return Dataset.in(await openSqliteStore(dataDir));
	}

	static async in(store: Store): Promise<Dataset> {
		const dataset = new Dataset(store);
		await dataset.store.directory.createTeam({
			id: TEAM,
			name: 'Benchmark',
			domain: 'benchmark',
			createdTs: dataset.next(),
		});
		return dataset;
	}

	close(): Promise<void> {
		return this.store.close();
	}

	/** Accounts, all with the token of `tokenOf`. */
	async users(ids: readonly string[]): Promise<void> {
		await inParts(ids.length, BATCH_SIZE, async (from, to) => {
			await Promise.all(ids.slice(from, to).map((id) => this.user(id)));
		});
	}

	private async user(id: string): Promise<void> {
		const { directory } = this.store;
		const account = {
			id,
			team: TEAM,
			name: id.toLowerCase(),
			realName: '',
			email: '',
			updatedTs: this.next(),
			signedOutTs: 0,
			profile: {},
			snoozedUntilTs: 0,
		};
		await Promise.all([
			directory.createUser({ ...account, isBot: false, deleted: false }),
			directory.createToken({
				hash: hashToken(tokenOf(id)),
				user: id,
				team: TEAM,
				createdTs: account.updatedTs,
				revokedTs: null,
				expiresTs: null,
			}),
		]);
	}

	/** One device each, known to the provider by the user's id. */
	async devices(users: readonly string[]): Promise<void> {
		await inParts(users.length, BATCH_SIZE, async (from, to) => {
			await Promise.all(
				users.slice(from, to).map((user) =>
					this.store.push.devices.add({
						id: `P${user}`,
						user,
						platform: 'apns',
						token: user,
						app: '',
						addedTs: this.next(),
					}),
				),
			);
		});
	}

	/** A public channel. `done` resolves when it is on disk: create many at once. */
	channel(members: readonly string[]): { readonly conversation: Conversation; readonly done: Promise<void> } {
		const at = this.next();
		const id = channelId(this.conversations);
		this.conversations += 1;
		const actor = members[0] ?? '';
		const conversation: Conversation = {
			id,
			team: TEAM,
			kind: 'public',
			name: id.toLowerCase(),
			creator: actor,
			createdTs: at,
			archived: false,
			topic: NO_CHANNEL_TEXT,
			purpose: NO_CHANNEL_TEXT,
			previousNames: [],
			memberCount: members.length,
			people: [],
			changedTs: at,
		};
		return {
			conversation,
			done: this.store.ledger.commit([{ type: 'created', conversation, at, members, actor }]),
		};
	}

	/** Posts by one author; afterwards `readers` have read everything. */
	async messages(
		conversation: Conversation,
		author: string,
		count: number,
		readers: readonly string[] = [],
	): Promise<void> {
		let last = 0;
		await inParts(count, BATCH_SIZE, async (from, to) => {
			const effects = Array.from({ length: to - from }, () => {
				last = this.next();
				return postedOf(conversation, author, last);
			});
			await this.store.ledger.commit(effects);
		});
		await this.store.ledger.commit(
			readers.map((user) => ({
				type: 'cursor',
				user,
				conversation: conversation.id,
				at: this.next(),
				cursor: last,
				revision: 0,
			})),
		);
	}

	/** Messages with individual fields, by their number. Returns their stamps. */
	async history(
		conversation: Conversation,
		count: number,
		fieldsOf: (index: number, ts: number) => Partial<Message>,
	): Promise<number[]> {
		const stamps: number[] = [];
		await inParts(count, BATCH_SIZE, async (from, to) => {
			const effects = Array.from({ length: to - from }, (_, index) => {
				const ts = this.next();
				stamps.push(ts);
				const said = message(conversation.id, ts, { text: MESSAGE_TEXT, ...fieldsOf(from + index, ts) });
				return { type: 'posted', conversation, at: ts, message: said, prevTs: null, thread: null } as const;
			});
			await this.store.ledger.commit(effects);
		});
		return stamps;
	}

	/** The user follows a thread from its root on. */
	async follow(conversation: Conversation, user: string, threadTs: number): Promise<void> {
		const at = this.next();
		await this.store.ledger.commit([
			{ type: 'followed', conversation, at, user, threadTs, cursor: threadTs },
		]);
	}

	/** Sets the cursors of these users. */
	async cursors(conversation: Conversation, cursorOf: ReadonlyMap<string, number>): Promise<void> {
		await this.store.ledger.commit(
			[...cursorOf].map(([user, cursor]) => ({
				type: 'cursor',
				user,
				conversation: conversation.id,
				at: this.next(),
				cursor,
				revision: 0,
			})),
		);
	}

	private next(): number {
		this.at += STEP_MICROS;
		return this.at;
	}
}

export const MESSAGE_TEXT = 'the quick brown fox jumps over the lazy dog while nobody is looking at all';

const messageOf = (conversation: string, user: string, ts: number): Message =>
	message(conversation, ts, { user, text: MESSAGE_TEXT });

export const postedOf = (
	conversation: Conversation,
	author: string,
	ts: number,
	prevTs: number | null = null,
) =>
	({
		type: 'posted',
		conversation,
		at: ts,
		message: messageOf(conversation.id, author, ts),
		prevTs,
		thread: null,
	}) as const;

export async function inParts(
	count: number,
	size: number,
	part: (from: number, to: number) => Promise<void>,
): Promise<void> {
	for (let from = 0; from < count; from += size) await part(from, Math.min(count, from + size));
}

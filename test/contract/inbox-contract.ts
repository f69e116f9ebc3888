import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { GatewayEngine } from '../../src/app/engine.ts';
import type { CountRow, InboxPage, InboxPageStart } from '../../src/engine/ports/read-state.ts';
import { Random } from '../support/oracle/random.ts';
import type { PortsDriver } from '../support/ports-driver.ts';
import type { EnginePlace, TestedEngine } from './engines.ts';

/**
 * The inbox equals the sorted list of all rows after every kind of change, and its pages contain each conversation once,
 * whatever the user reads meanwhile.
 */

const ADA = 'U0000ADA00';
const GRACE = 'U000GRACE0';
const LATE = Number.MAX_SAFE_INTEGER;
/** For thousands of changes, one after the other: a few seconds, or twenty times as long on a busy machine. */
const LONG_MS = 300_000;

interface Message {
	readonly conversation: string;
	readonly ts: number;
}

/** Two users in many conversations: Ada writes, Grace reads. */
class Scene<E extends GatewayEngine> {
	readonly messages: Message[] = [];
	private readonly archived = new Set<string>();
	private readonly left = new Set<string>();

	private constructor(
		private readonly tested: TestedEngine<E>,
		public engine: E,
		public driver: PortsDriver,
		readonly conversations: readonly string[],
	) {}

	static async open<E extends GatewayEngine>(
		tested: TestedEngine<E>,
		place: EnginePlace<E>,
		count: number,
	): Promise<Scene<E>> {
		const engine = await place.open();
		const driver = tested.drive(engine);
		const made = Array.from({ length: count }, (_, index) =>
			driver.createConversation('public', [ADA, GRACE], `c${index}`),
		);
		const scene = new Scene(
			tested,
			engine,
			driver,
			(await Promise.all(made)).map(({ id }) => id),
		);
		// A few conversations have no messages.
		for (const conversation of scene.conversations.slice(3)) await scene.post(conversation, ADA);
		return scene;
	}

	async reopen(place: EnginePlace<E>): Promise<void> {
		await this.driver.close();
		this.engine = await place.open();
		this.driver = this.tested.drive(this.engine);
	}

	/** Conversations that Grace is in and that can change. */
	open(): string[] {
		return this.conversations.filter((c) => !this.archived.has(c) && !this.left.has(c));
	}

	async leave(conversation: string): Promise<void> {
		await this.driver.leave(conversation, GRACE);
		this.left.add(conversation);
	}

	async post(conversation: string, user: string, text = 'x'): Promise<void> {
		const ts = await this.driver.post(conversation, user, text, {});
		if (user === ADA) this.messages.push({ conversation, ts });
	}

	/** Grace reads something, or marks it unread, on some device. */
	async read(random: Random): Promise<void> {
		const { conversation, ts } = random.pick(this.messages) as Message;
		if (this.left.has(conversation) || this.archived.has(conversation)) return;
		const mark = random.pick(['mark', 'mark', 'markUnread', 'markMessage'] as const) as 'mark';
		await this.driver[mark](conversation, GRACE, ts);
	}

	/** Any change that moves a conversation within the list, into it or out of it. */
	async change(random: Random): Promise<void> {
		const c = random.pick(this.conversations) as string;
		const isOpen = !this.archived.has(c) && !this.left.has(c);
		switch (random.below(11)) {
			case 0:
			case 1:
				if (!this.archived.has(c)) await this.post(c, ADA);
				return;
			case 2:
				if (isOpen) await this.post(c, GRACE);
				return;
			case 3:
				return this.remove(random);
			case 4:
				if (this.left.has(c)) return;
				await this.driver[this.archived.has(c) ? 'unarchive' : 'archive'](c, ADA);
				toggle(this.archived, c);
				return;
			case 5:
				if (this.archived.has(c)) return;
				if (this.left.has(c)) await this.driver.join(c, GRACE);
				else return this.leave(c);
				this.left.delete(c);
				return;
			case 6:
				if (isOpen) await this.driver.mute(c, GRACE, random.below(3) > 0);
				return;
			case 7:
				if (!this.archived.has(c)) await this.post(c, ADA, `<@${GRACE}>`);
				return;
			case 8:
				return this.edit(random);
			default:
				return this.read(random);
		}
	}

	/** An edit makes a message name Grace, or stop naming her. */
	private async edit(random: Random): Promise<void> {
		const { conversation, ts } = random.pick(this.messages) as Message;
		if (this.archived.has(conversation) || this.left.has(conversation)) return;
		await this.driver.edit(conversation, ADA, ts, random.below(2) > 0 ? `<@${GRACE}>` : 'y');
	}

	private async remove(random: Random): Promise<void> {
		const index = random.below(this.messages.length);
		const { conversation, ts } = this.messages[index] as Message;
		if (this.archived.has(conversation)) return;
		await this.driver.remove(conversation, ADA, ts);
		this.messages.splice(index, 1);
	}

	async page(limit: number, unreadFirst: boolean, start: InboxPageStart | null): Promise<InboxPage> {
		const page = await this.engine.readState.inbox(GRACE, { limit, start, unreadFirst });
		if (page === 'no_such_listing') throw new Error(page);
		return page;
	}

	/** Reads all pages; calls `between` after each of them. */
	async pages(
		limit: number,
		unreadFirst: boolean,
		between: () => Promise<void> = async () => {},
	): Promise<string[]> {
		const ids: string[] = [];
		let start: InboxPageStart | null = null;
		do {
			const page: InboxPage = await this.page(limit, unreadFirst, start);
			if (page.next) expect(page.rows.length).toBe(limit);
			else expect(page.rows.length).toBeLessThanOrEqual(limit);
			ids.push(...page.rows.map(({ conversation }) => conversation));
			start = page.next;
			await between();
		} while (start);
		return ids;
	}

	/** The list by its definition. */
	async sorted(unreadFirst: boolean): Promise<string[]> {
		const { rows } = await this.engine.readState.counts(GRACE);
		// Muting hides: a muted conversation comes first only if it has a badge, that is, if a message names the user.
		const part = (row: CountRow) => (unreadFirst && (row.unreadDisplay > 0 || row.badge > 0) ? 0 : 1);
		return [...rows]
			.sort((a, b) => part(a) - part(b) || b.latest - a.latest || (a.conversation < b.conversation ? -1 : 1))
			.map(({ conversation }) => conversation);
	}
}

function toggle(set: Set<string>, item: string): void {
	if (!set.delete(item)) set.add(item);
}

export function describeInboxContract<E extends GatewayEngine>(
	engine: TestedEngine<E>,
	sizes: readonly number[],
): void {
	describe(`the inbox of the ${engine.name} engine`, () => {
		for (const size of sizes) {
			describe(`of ${size} conversations`, () => {
				let place: EnginePlace<E>;
				let scene: Scene<E>;
				beforeAll(async () => {
					place = await engine.place();
					scene = await Scene.open(engine, place, size);
				}, 60_000);
				afterAll(async () => {
					await scene.driver.close();
					await place.remove();
				});

				test(
					'has all rows in order after random changes',
					async () => {
						const random = new Random(size);
						for (let round = 0; round < 60; round += 1) {
							for (let changes = random.below(6); changes > 0; changes -= 1) await scene.change(random);
							for (const unreadFirst of [true, false])
								expect(await scene.pages(1 + random.below(size), unreadFirst)).toEqual(
									await scene.sorted(unreadFirst),
								);
						}
					},
					LONG_MS,
				);

				test(
					'lists each conversation once, whatever is read while a client pages through it',
					async () => {
						const random = new Random(size + 1);
						for (let round = 0; round < 20; round += 1) {
							for (const unreadFirst of [true, false]) {
								const expected = await scene.sorted(unreadFirst);
								const limit = 1 + random.below(size / 5);
								const reading = async () => {
									for (let marks = 0; marks < 8; marks += 1) await scene.read(random);
								};
								expect(await scene.pages(limit, unreadFirst, reading)).toEqual(expected);
							}
						}
					},
					LONG_MS,
				);

				test('lists each conversation once, even if everything is marked read after the first page', async () => {
					for (const c of scene.open().slice(0, 10)) await scene.post(c, ADA);
					const expected = await scene.sorted(true);
					expect(await scene.pages(4, true, () => scene.driver.markAllRead(GRACE))).toEqual(expected);
				}, 60_000);

				test('lists a muted conversation first only while a message in it names the user', async () => {
					await scene.driver.markAllRead(GRACE);
					const [muted = '', plain = ''] = scene.open();
					await scene.driver.mute(muted, GRACE, true);
					await scene.driver.mute(plain, GRACE, false);
					await scene.post(plain, ADA);
					await scene.post(muted, ADA);
					const first = async () => (await scene.page(2, true, null)).rows[0]?.conversation;
					expect(await first()).toBe(plain);
					const naming = await scene.driver.post(muted, ADA, `<@${GRACE}>`, {});
					expect(await first()).toBe(muted);
					await scene.driver.edit(muted, ADA, naming, 'nobody');
					expect(await first()).toBe(plain);
					await scene.driver.mute(muted, GRACE, false);
					expect(await first()).toBe(muted);
				}, 60_000);

				test('of two lists paged at once, each keeps the unread state from its first page', async () => {
					for (const c of scene.open()) await scene.driver.mute(c, GRACE, false);
					await scene.driver.markAllRead(GRACE);
					const allRead = { expected: await scene.sorted(true), page: await scene.page(3, true, null) };
					const last = allRead.expected.findLast((c) => scene.messages.some((m) => m.conversation === c));
					const { conversation, ts } = scene.messages.find((m) => m.conversation === last) as Message;
					await scene.driver.markUnread(conversation, GRACE, ts);
					const oneUnread = { expected: await scene.sorted(true), page: await scene.page(3, true, null) };
					expect(oneUnread.expected[0]).toBe(conversation);
					for (const { expected, page } of [allRead, oneUnread]) {
						const rest = await scene.page(size, true, page.next);
						expect([...page.rows, ...rest.rows].map(({ conversation }) => conversation)).toEqual(expected);
					}
				}, 60_000);

				test('a conversation that gets a post or is left meanwhile is not listed twice', async () => {
					const random = new Random(size + 2);
					const listed = await scene.pages(Math.ceil(size / 10), true, async () => {
						const c = random.pick(scene.open()) as string;
						await scene.post(c, ADA);
						await scene.driver.mark(c, GRACE, LATE);
						await scene.leave(random.pick(scene.open()) as string);
					});
					expect(new Set(listed).size).toBe(listed.length);
				}, 60_000);

				test('an unread conversation that is left meanwhile leaves no gap in a page', async () => {
					for (const c of scene.open().slice(0, 8)) await scene.post(c, ADA);
					const unread = (await scene.page(8, true, null)).rows.map(({ conversation }) => conversation);
					const listed = await scene.pages(2, true, async () => {
						const c = unread.pop();
						if (c !== undefined && scene.open().includes(c)) await scene.leave(c);
					});
					expect(new Set(listed).size).toBe(listed.length);
				}, 60_000);

				test('rejects a page of a list that was never started', async () => {
					const { next } = await scene.page(1, true, null);
					const start = { ...(next as InboxPageStart), listing: 1 };
					const query = { limit: 1, start, unreadFirst: true };
					expect(await scene.engine.readState.inbox(GRACE, query)).toBe('no_such_listing');
				});

				test('is the same after a restart; a list started before continues, or is rejected', async () => {
					for (const c of scene.open().slice(0, 4)) await scene.post(c, ADA);
					const expected = await scene.sorted(true);
					const { rows, next } = await scene.page(2, true, null);
					await scene.reopen(place);
					expect(await scene.pages(3, true)).toEqual(expected);
					const query = { limit: size, start: next, unreadFirst: true };
					const rest = await scene.engine.readState.inbox(GRACE, query);
					const ids =
						rest === 'no_such_listing' ? expected.slice(2) : rest.rows.map((row) => row.conversation);
					expect([...rows.map(({ conversation }) => conversation), ...ids]).toEqual(expected);
				}, 60_000);
			});
		}
	});
}

import { describe, expect, test } from 'bun:test';
import type { GatewayEngine } from '../../src/app/engine.ts';
import { Repairer } from '../../src/durability/repairer.ts';
import { Verifier } from '../../src/durability/verifier.ts';
import { eventually } from '../support/eventually.ts';
import type { PortsDriver } from '../support/ports-driver.ts';

/** Served state and store are made to differ: the difference is reported, and repaired from the store. */

/** Makes the served state differ from the store, in a way that depends on the engine. A repair must make them equal again. */
export interface Damage {
	loseMessage(conversation: string, ts: number): Promise<void>;
	loseReply(conversation: string, threadTs: number, ts: number): Promise<void>;
	moveCursor(user: string, conversation: string, cursor: number): Promise<void>;
}

export interface DamagedEngine {
	readonly name: string;
	open(): Promise<{ engine: GatewayEngine; driver: PortsDriver; damage: Damage; remove(): Promise<void> }>;
}

const [ADA, GRACE] = ['U000ADA000', 'U000GRACE0'] as const;

export function describeRepair({ name, open }: DamagedEngine): void {
	describe(`repair on ${name}`, () => {
		test('differing messages, replies and cursors are reported, and reloaded from the store', async () => {
			const { engine, driver, damage, remove } = await open();
			const { views, readState, store } = engine;
			const verifier = new Verifier(readState, store.source);
			const repairer = new Repairer(views, verifier, Date.now);
			const { c, posts, replies } = await aChannel(driver);
			const verified = () => verifier.verify([ADA, GRACE], c);
			// The store may lag: waits until it has everything.
			await eventually(async () => {
				const { total } = await new Verifier(readState, store.source).verify([ADA, GRACE], c);
				expect(total).toBe(4);
			}, 30_000);
			// Everything is loaded before it is damaged.
			expect(await verified()).toEqual({ checked: 4, drifted: [], total: 4 });

			await damage.loseMessage(c, posts[1] as number);
			await damage.loseReply(c, posts[0] as number, replies[1] as number);
			const { drifted } = await verified();
			expect(drifted.map(({ user, threadTs }) => [user, threadTs])).toEqual([
				[GRACE, null],
				[GRACE, posts[0] as number],
			]);
			for (const { served, stored } of drifted) {
				expect(Math.abs(served.unread - stored.unread)).toBe(1);
				expect(Math.abs(served.mentions - stored.mentions)).toBe(1);
			}
			// Verifying changes nothing.
			expect((await verified()).drifted).toEqual(drifted);
			expect(await repairer.repair(drifted)).toEqual(['repaired', 'repaired']);
			expect((await verified()).drifted).toEqual([]);
			const [, grace] = [await readState.row(ADA, c), await readState.row(GRACE, c)];
			expect(grace).toMatchObject(drifted[0]?.stored ?? {});

			await damage.moveCursor(GRACE, c, posts[2] as number);
			const moved = (await verified()).drifted;
			expect(moved.map(({ user, threadTs }) => [user, threadTs])).toEqual([[GRACE, null]]);
			expect(await repairer.repair(moved)).toEqual(['repaired']);
			expect((await verified()).drifted).toEqual([]);
			expect(await readState.row(GRACE, c)).toMatchObject(moved[0]?.stored ?? {});
			expect({ ...verifier.meters, ...repairer.meters }).toEqual({ checked: 24, drifted: 5, repaired: 3 });

			// The state keeps working after the repair.
			const before = (await readState.row(GRACE, c))?.unread ?? 0;
			await driver.submit(ADA, c, post('one more'));
			expect(await readState.row(GRACE, c)).toMatchObject({ unread: before + 1 });
			expect((await verified()).drifted).toEqual([]);
			await driver.close();
			await remove();
		});
	});
}

const post = (text: string, threadTs: number | null = null) =>
	({
		type: 'post',
		content: { text, extra: null },
		threadTs,
		broadcast: false,
		clientMsgId: null,
	}) as const;

async function aChannel({ createConversation, submit }: PortsDriver) {
	const { id: c } = await createConversation('public', [ADA, GRACE], 'damaged');
	const say = async (user: string, text: string, threadTs?: number) =>
		(await submit(user, c, post(text, threadTs))).message?.ts ?? 0;
	const posts: number[] = [];
	for (const text of ['one', `two, <@${GRACE}>`, 'three', 'four']) posts.push(await say(ADA, text));
	const replies = [await say(GRACE, 'reply', posts[0]), await say(ADA, `to <@${GRACE}>`, posts[0])];
	return { c, posts, replies };
}

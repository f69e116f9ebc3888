import { CONVERSATIONS, USER_COUNT } from '../support/oracle/history.ts';
import { installGlobals } from './globals.ts';
import { Network } from './network.ts';
import { driverOf, type Known, makePeople } from './people.ts';
import { Scheduler } from './scheduler.ts';
import type { Shape, World } from './world.ts';

/**
 * The state that histories start from: an installation with users and empty conversations, without faults so far. It is created once for
 * each shape and variant, because that takes as long as a short history. Ids differ between variants, so partitions and sort orders do too.
 */

export interface Beginning {
	/** The simulated time when it was saved, in ms. */
	readonly now: number;
	readonly people: readonly Known[];
	readonly conversations: readonly { readonly id: string; readonly at: number }[];
	/** The contents of disks, logs and Redis. */
	readonly saved: unknown;
}

export const VARIANTS = 8;
/** Within this time everything is persisted. */
const SETTLES_MS = 5_000;
const LIMITS = { steps: 500_000, ms: 600_000 };

const made = new Map<string, Beginning>();

/** `name` is the name of the shape. */
export function beginningOf(name: string, variant: number, shapeOf: (world: World) => Shape): Beginning {
	const key = `${name} ${variant}`;
	const known = made.get(key) ?? make(variant, shapeOf);
	made.set(key, known);
	return known;
}

function make(variant: number, shapeOf: (world: World) => Shape): Beginning {
	const scheduler = new Scheduler(variant);
	const nothing = (): void => undefined;
	const network = new Network(scheduler, nothing);
	const chaos = scheduler.process('chaos');
	const world: World = { scheduler, network, chaos, phones: null, tally: nothing, calm: nothing };
	const uninstall = installGlobals(scheduler, network);
	const shape = shapeOf(world);
	try {
		const populated = new Promise<Beginning>((resolve, reject) => {
			const judge = scheduler.process('judge');
			scheduler.at(judge, 0, '', () => {
				shape.start();
				populate(world, shape, judge).then(resolve, reject);
			});
		});
		return scheduler.runUntilSettled(populated, LIMITS);
	} finally {
		uninstall();
		shape.close();
	}
}

async function populate(world: World, shape: Shape, judge: World['chaos']): Promise<Beginning> {
	while (!shape.isUp()) await Bun.sleep(50);
	const known = await makePeople(world, shape, judge, USER_COUNT);
	const { people, driver } = driverOf(world, shape, judge, known);
	const conversations: { id: string; at: number }[] = [];
	for (const { name, type, members } of CONVERSATIONS) {
		const ids = members.map((index) => known[index]?.id as string);
		conversations.push(await driver.createConversation(type, ids, name));
	}
	for (const [index, { call }] of people.entries())
		await call('push.devices.add', { platform: 'apns', token: `phone-${index}` });
	await Bun.sleep(SETTLES_MS);
	for (const process of shape.processes) process.kill();
	return { now: world.scheduler.now, people: known, conversations, saved: shape.save() };
}

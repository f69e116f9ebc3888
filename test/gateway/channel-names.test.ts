import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { Engine } from '../../src/app/engine.ts';
import { startSolePartition } from '../../src/app/sole-partition.ts';
import type { CommandLog, CommandRecord } from '../../src/engine/ports/log.ts';
import type { UserCaller } from '../../src/gateway/auth/caller.ts';
import {
	conversationsCreate,
	conversationsRename,
} from '../../src/gateway/http/methods/conversations-create.ts';
import { Requests } from '../../src/gateway/requests.ts';
import type { Services } from '../../src/gateway/services.ts';
import { Rejection } from '../../src/model/errors.ts';
import { type EnginePlace, embedded } from '../contract/engines.ts';
import { eventually } from '../support/eventually.ts';
import { random, TEAM, userNamed } from './support.ts';

/**
 * Two channels never have the same name, even while the outcome of a command is unknown; and no name stays reserved for
 * nothing.
 */

const MINUTE_MICROS = 60_000_000;
const ADA: UserCaller = {
	kind: 'user',
	user: userNamed('U123'),
	team: TEAM,
	tokenKey: '',
	issuedAt: 0,
	expiresAt: Number.POSITIVE_INFINITY,
};

let place: EnginePlace;
let engine: Engine;
let requests: Requests;
let services: Services;
/** What happens to commands: they are decided, wait, or are rejected before they are sent. */
let log: 'decides' | 'waits' | 'is unavailable';
let waiting: CommandRecord[];
let later: number;

beforeEach(async () => {
	place = await embedded.place();
	engine = await place.open();
	log = 'decides';
	waiting = [];
	later = 0;
	const { store, readState, bus } = engine;
	startSolePartition(engine, { report: (error) => console.error(error) });
	const held: CommandLog = {
		append: async (record) => {
			if (log === 'is unavailable') throw new Rejection('service_unavailable', 'the log is unreachable');
			if (log === 'waits') waiting.push(record);
			else await engine.log.append(record);
		},
		consume: () => ({ restart: () => undefined }),
	};
	const patience = {
		// Only waiting commands are given up.
		get timeoutMs() {
			return log === 'waits' ? 300 : 30_000;
		},
		silentMs: 60_000,
		checkEveryMs: 20,
	};
	requests = new Requests(held, bus, 'G01', engine.clock, undefined, patience);
	const clock = { next: () => engine.clock.next() + later };
	services = { requests, directory: store.directory, readState, clock, random } as unknown as Services;
});
afterEach(async () => {
	requests.close();
	await engine.close();
	await place.remove();
});

const call = () => ({ services, request: new Request('http://localhost/') });
const create = async (name: string): Promise<string> => {
	const { channel } = (await conversationsCreate.call(new Map([['name', name]]), ADA, call())) as {
		channel: { id: string };
	};
	return channel.id;
};
const rename = (channel: string, name: string) =>
	conversationsRename.call(new Map(Object.entries({ channel, name })), ADA, call());
const rejected = (code: string) => expect.objectContaining({ code });
const caught = (asked: Promise<unknown>) =>
	asked.then(
		() => 'done',
		(error) => error,
	);

/** Decides the waiting commands. */
async function release(): Promise<void> {
	log = 'decides';
	for (const record of waiting.splice(0)) await engine.log.append(record);
}

async function named(name: string): Promise<string[]> {
	const query = {
		team: TEAM,
		user: ADA.user.id,
		kinds: ['public'],
		memberOnly: false,
		excludeArchived: false,
	} as const;
	const { items } = await engine.store.directory.conversationsOf(query, null, 100);
	return items.filter((one) => one.name === name).map(({ id }) => id);
}

test('an unknown outcome keeps the name reserved: a late creation has it, and nothing else gets it', async () => {
	log = 'waits';
	expect(await caught(create('late'))).toEqual(rejected('outcome_unknown'));
	log = 'decides';
	expect(await caught(create('late'))).toEqual(rejected('name_taken'));
	await release();
	expect(await caught(create('late'))).toEqual(rejected('name_taken'));
	await eventually(async () => expect(await named('late')).toHaveLength(1), 10_000);
});

test('the name stays reserved after a minute, while the creation may still happen', async () => {
	log = 'waits';
	expect(await caught(create('later'))).toEqual(rejected('outcome_unknown'));
	later = 2 * MINUTE_MICROS;
	const second = caught(create('later'));
	// Commands about the first channel are decided after it.
	for (let tries = 0; waiting.length < 2 && tries < 100; tries += 1) await Bun.sleep(5);
	await release();
	expect(await second).toEqual(rejected('name_taken'));
	expect(await named('later')).toHaveLength(1);
});

test('the same holds for the new name of a channel', async () => {
	const [one, other] = [await create('one'), await create('other')];
	log = 'waits';
	expect(await caught(rename(one, 'wanted'))).toEqual(rejected('outcome_unknown'));
	log = 'decides';
	expect(await caught(rename(other, 'wanted'))).toEqual(rejected('name_taken'));
	await release();
	await eventually(async () => expect(await named('wanted')).toEqual([one]), 10_000);
	later = 2 * MINUTE_MICROS;
	expect(await caught(rename(other, 'wanted'))).toEqual(rejected('name_taken'));
	expect(await named('wanted')).toEqual([one]);
});

test('a command that was never sent frees the name', async () => {
	log = 'is unavailable';
	expect(await caught(create('free'))).toEqual(rejected('service_unavailable'));
	log = 'decides';
	await create('free');
	expect(await named('free')).toHaveLength(1);
});

test('a lost command frees its name after a minute, and not earlier', async () => {
	log = 'waits';
	expect(await caught(create('lost'))).toEqual(rejected('outcome_unknown'));
	waiting = [];
	log = 'decides';
	expect(await caught(create('lost'))).toEqual(rejected('name_taken'));
	later = 2 * MINUTE_MICROS;
	await create('lost');
	expect(await named('lost')).toHaveLength(1);
});

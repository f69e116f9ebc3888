import { formatTs } from '../../src/model/ts.ts';
import { Dataset, userId, usersFrom } from './dataset.ts';
import type { Bench } from './scenario.ts';

/**
 * A workspace as a restarted server finds it: many channels, some with very long histories, and members whose cursors
 * are anywhere between the first and the newest message.
 */

export interface Sizes {
	readonly channels: number;
	/** Every tenth channel has this many messages, the others a twentieth of it. */
	readonly longest: number;
	readonly users: number;
	/** Channels of each user. */
	readonly each: number;
}

export interface LargeWorkspace {
	readonly sizes: Sizes;
	readonly messages: number;
	readonly channels: readonly Channel[];
}

export interface Channel {
	readonly id: string;
	readonly members: readonly string[];
	/** The ts of its newest message. */
	readonly latest: string;
}

const LONG_EVERY = 10;
const SHORTER = 20;
const NAMES_EVERY = 50;

/** A number from 0 to below 1 that is the same in every run. */
export function fraction(...parts: readonly number[]): number {
	let hash = 0x811c9dc5;
	for (const part of parts) hash = Math.imul(hash ^ part, 0x01000193) + 0x9e3779b9;
	hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
	return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

export async function fillLarge(bench: Bench, dataDir: string, sizes: Sizes): Promise<LargeWorkspace> {
	const dataset = await Dataset.open(dataDir);
	const users = usersFrom(0, sizes.users);
	await dataset.users(users);
	const channels: Channel[] = [];
	let messages = 0;
	for (let number = 0; number < sizes.channels; number += 1) {
		const members = membersOf(number, sizes);
		const { conversation, done } = dataset.channel(members);
		await done;
		const count = number % LONG_EVERY === 0 ? sizes.longest : Math.ceil(sizes.longest / SHORTER);
		const memberAt = (index: number) => members[index % members.length] ?? '';
		const stamps = await dataset.history(conversation, count, (index) => ({
			user: memberAt(index * 7),
			clientMsgId: `${number}-${index}`,
			named: index % NAMES_EVERY === 0 ? [memberAt(index * 3)] : [],
		}));
		await dataset.cursors(
			conversation,
			new Map(members.map((member, seat) => [member, cursorOf(stamps, number, seat)])),
		);
		messages += count;
		channels.push({ id: conversation.id, members, latest: formatTs(stamps.at(-1) ?? 0) });
	}
	await dataset.close();
	bench.progress(`${messages} messages in ${sizes.channels} channels, ${sizes.users} users`);
	return { sizes, messages, channels };
}

function membersOf(channel: number, { channels, users, each }: Sizes): string[] {
	const count = Math.floor((users * each) / channels);
	const first = Math.floor(fraction(channel) * users);
	return Array.from({ length: count }, (_, seat) => userId((first + seat * each) % users));
}

/** A third of the users has read everything; the others are behind by up to the whole history, most by little. */
function cursorOf(stamps: readonly number[], channel: number, seat: number): number {
	const share = fraction(channel, seat, 1);
	const behind = share < 1 / 3 ? 0 : Math.floor(stamps.length ** fraction(channel, seat, 2));
	return stamps[stamps.length - 1 - behind] ?? 0;
}

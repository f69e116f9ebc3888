import { expect } from 'bun:test';
import { type Answer, rawClient } from '../api.ts';
import { eventually } from '../eventually.ts';
import { makeWorkspace, type Person } from '../people.ts';

/**
 * Users whose state, and that of their conversations, is on nodes where nothing fails. They read counts and mark all the
 * time. Nothing may be rejected, and every count must be exact, because nobody else writes there.
 */

const READERS = 3;
const CHANNELS = 2;
const MESSAGES = 20;
const PAUSE_MS = 5;
const STEPS_WITHIN_MS = 200_000;
/** Enough new channels for some of them to be on other nodes. */
const MAX_MADE = 60;

export interface Bystanders {
	/** Resolves when every user has counted and marked this many times more. */
	steps(more: number): Promise<void>;
	/** Stops them, and checks that nothing was rejected or wrong. Returns how often they counted or marked. */
	stop(): Promise<number>;
}

/** `isAffected`: whether the state of this id is on the node that will fail. */
export async function startBystanders(url: string, isAffected: (id: string) => boolean): Promise<Bystanders> {
	const { people } = await makeWorkspace(url, READERS * 4, 'Bystanders');
	const readers = people.filter(({ id }) => !isAffected(id)).slice(0, READERS);
	const [writer] = people as [Person];
	const channels: { id: string; tss: string[] }[] = [];
	for (let made = 0; channels.length < CHANNELS; made += 1) {
		if (made === MAX_MADE) throw new Error(`of ${made} channels, fewer than ${CHANNELS} are on other nodes`);
		const { channel } = await writer.call('conversations.create', { name: `quiet-${made}` });
		if (isAffected(channel.id)) continue;
		const users = readers.map(({ id }) => id).filter((id) => id !== writer.id);
		await writer.call('conversations.invite', { channel: channel.id, users });
		const tss: string[] = [];
		for (let number = 0; number < MESSAGES; number += 1)
			tss.push((await writer.call('chat.postMessage', { channel: channel.id, text: `${number}` })).ts);
		channels.push({ id: channel.id, tss });
	}
	const others = readers.filter(({ id }) => id !== writer.id);
	const counted = others.map(() => 0);
	const troubles: unknown[] = [];
	let isOver = false;
	const playing = others.map(async ({ token }, number) => {
		const call = rawClient(url, token);
		const ask = async (method: string, args: Readonly<Record<string, unknown>>): Promise<Answer | null> => {
			const began = performance.now();
			const answer = await call(method, args).catch((error) => ({ ok: false, error: String(error) }));
			if (!answer.ok) troubles.push({ method, took: performance.now() - began, ...answer });
			return answer.ok ? answer : null;
		};
		for (let step = 0; !isOver; step += 1) {
			const { id, tss } = channels[step % CHANNELS] as (typeof channels)[0];
			const place = Math.floor(step / CHANNELS) % (MESSAGES + 1);
			// After the last message, everything is marked unread again.
			const marked = await ask(...markAt(id, tss, place));
			const counts = marked && (await ask('client.counts', {}));
			const row = counts?.channels.find((one: { id: string }) => one.id === id);
			const expected = place === MESSAGES ? MESSAGES : MESSAGES - 1 - place;
			if (counts && row?.unread_count !== expected) troubles.push({ step, expected, row });
			(counted[number] as number) += 1;
			await Bun.sleep(PAUSE_MS);
		}
	});
	return {
		steps: async (more) => {
			const before = [...counted];
			await eventually(async () => {
				for (const [index, steps] of counted.entries())
					expect(steps).toBeGreaterThanOrEqual((before[index] ?? 0) + more);
			}, STEPS_WITHIN_MS);
		},
		stop: async () => {
			isOver = true;
			await Promise.all(playing);
			expect(troubles).toEqual([]);
			return counted.reduce((sum, steps) => sum + 2 * steps, 0);
		},
	};
}

const markAt = (
	channel: string,
	tss: readonly string[],
	place: number,
): [method: string, args: Readonly<Record<string, unknown>>] =>
	place === tss.length
		? ['conversations.markUnread', { channel, ts: tss[0] }]
		: ['conversations.mark', { channel, ts: tss[place] }];

import { type ApiCall, apiClient } from '../remote/api-client.ts';
import type { Plan } from './plan.ts';
import type { ProgressLine } from './progress.ts';

/** Creates what the load needs through the public API: a workspace, users, conversations with members. */

export interface Stage {
	readonly team: { readonly id: string; readonly name: string };
	/** User ids by number. */
	readonly people: readonly string[];
	readonly channels: readonly string[];
	/** Returns a client that is signed in as this user. */
	as(person: number): Promise<ApiCall>;
}

/** Concurrent requests. */
const CONCURRENCY = 16;
/** The maximum of admin.conversations.addMembers. */
const ADDED_AT_ONCE = 10_000;

export async function setStage(
	url: string,
	admin: ApiCall,
	plan: Plan,
	name: string,
	progress: ProgressLine,
	signal: AbortSignal,
): Promise<Stage> {
	const { team } = await admin<{ team: Stage['team'] }>('admin.teams.create', { name });
	progress.say(`creating the workspace "${team.name}" (${team.id}), which cannot be deleted`);
	const people: string[] = new Array(plan.people);
	await each(plan.people, signal, async (person) => {
		const { user } = await admin<{ user: { id: string } }>('admin.users.create', {
			team_id: team.id,
			name: `bench-${person + 1}`,
		});
		people[person] = user.id;
		progress.step(`${person + 1} of ${plan.people} users created`);
	});
	const calls = new Map<number, Promise<ApiCall>>();
	const signIn = async (person: number): Promise<ApiCall> => {
		const { token } = await admin<{ token: string }>('admin.tokens.create', { user_id: people[person] });
		return apiClient(url, token);
	};
	const as = (person: number): Promise<ApiCall> => {
		const known = calls.get(person) ?? signIn(person);
		calls.set(person, known);
		return known;
	};
	const channels: string[] = new Array(plan.load.conversations);
	await each(plan.load.conversations, signal, async (index) => {
		const owner = await as(plan.speaker(index, 0));
		const { channel } = await owner<{ channel: { id: string } }>('conversations.create', {
			name: `bench-${index + 1}`,
		});
		channels[index] = channel.id;
		const members = plan.members(index).map((person) => people[person]);
		for (let from = 0; from < members.length; from += ADDED_AT_ONCE)
			await admin('admin.conversations.addMembers', {
				channel: channel.id,
				users: members.slice(from, from + ADDED_AT_ONCE),
			});
		progress.step(`${index + 1} of ${plan.load.conversations} conversations created`);
	});
	return { team, people, channels, as };
}

/** Runs `work` for every number below `count`, some at a time, until done or aborted. */
export async function each(
	count: number,
	signal: AbortSignal,
	work: (index: number) => Promise<void>,
): Promise<void> {
	let next = 0;
	const one = async (): Promise<void> => {
		while (next < count) {
			signal.throwIfAborted();
			const index = next;
			next += 1;
			await work(index);
		}
	};
	await Promise.all(Array.from({ length: CONCURRENCY }, one));
}

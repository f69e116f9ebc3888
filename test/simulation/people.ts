import { ERRORS } from '../../src/model/errors.ts';
import { type Answer, type Call, CallFailed } from '../support/api.ts';
import { httpDriver } from '../support/http-driver.ts';
import type { Driver } from '../support/oracle/driver.ts';
import type { Person } from '../support/people.ts';
import { ADMIN_TOKEN } from './embedded.ts';
import type { Process } from './scheduler.ts';
import type { Shape, World } from './world.ts';

/**
 * Calls of clients that do not give up: a call without an answer, or with a retryable error, is sent again, to any server. A post keeps its
 * `client_msg_id`.
 */

const PAUSE_MS = 300;
const MAX_ATTEMPTS = 400;

/** Errors of a repeated call which show that an earlier attempt succeeded. */
const DONE: Readonly<Record<string, readonly string[]>> = {
	'chat.delete': ['message_not_found'],
	'conversations.join': ['already_in_channel'],
	'conversations.invite': ['already_in_channel'],
	// A user who has left a private channel cannot see it.
	'conversations.leave': ['not_in_channel', 'channel_not_found'],
	'conversations.kick': ['not_in_channel'],
	'conversations.archive': ['already_archived'],
	'conversations.unarchive': ['not_archived'],
	'conversations.create': ['name_taken'],
};

/** Called after a call was repeated, with the number of attempts: each of them may have taken effect. */
export type Repeated = (method: string, args: Readonly<Record<string, unknown>>, attempts: number) => void;

export function callerOf(
	{ scheduler, network }: World,
	shape: Pick<Shape, 'servers'>,
	process: Process,
	token: string,
	repeated: Repeated = () => undefined,
): Call {
	const fetch = network.fetchOf(process);
	const once = async (method: string, args: object): Promise<Answer | null> => {
		const server = scheduler.random.pick(shape.servers);
		try {
			const response = await fetch(`http://${server}/api/${method}`, {
				method: 'POST',
				headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
				body: JSON.stringify(args),
			});
			return (await response.json()) as Answer;
		} catch {
			return null;
		}
	};
	return async (method, given = {}) => {
		const args = method === 'chat.postMessage' ? { client_msg_id: crypto.randomUUID(), ...given } : given;
		for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
			const answer = await once(method, args);
			if (answer?.ok || (attempt > 1 && answer?.error && DONE[method]?.includes(answer.error))) {
				if (attempt > 1) repeated(method, args, attempt);
				return answer;
			}
			if (answer && !isTemporary(answer))
				throw new CallFailed(`${method} ${JSON.stringify(args)}: ${JSON.stringify(answer)}`);
			await Bun.sleep(PAUSE_MS);
		}
		throw new Error(`${method} ${JSON.stringify(args)} failed in ${MAX_ATTEMPTS} attempts`);
	};
}

const isTemporary = ({ error = '' }: Answer): boolean =>
	error === 'outcome_unknown' || ERRORS[error as keyof typeof ERRORS]?.retry === true;

/** What a caller needs to act as this user. */
export type Known = Pick<Person, 'id' | 'name' | 'token'>;

export async function makePeople(
	world: World,
	shape: Shape,
	process: Process,
	count: number,
): Promise<Known[]> {
	const admin = callerOf(world, shape, process, ADMIN_TOKEN);
	const { team } = await admin('admin.teams.create', { name: 'Simulation' });
	const people: Known[] = [];
	for (let index = 0; index < count; index += 1) {
		const name = `person-${index}`;
		const { user } = await admin('admin.users.create', { team_id: team.id, name });
		const { token } = await admin('admin.tokens.create', { user_id: user.id });
		people.push({ id: user.id, name, token });
	}
	return people;
}

/** A driver that acts as these users, from one process. */
export function driverOf(
	world: World,
	shape: Shape,
	process: Process,
	known: readonly Known[],
	repeated?: (user: string, ...call: Parameters<Repeated>) => void,
): { readonly people: readonly Person[]; readonly driver: Driver } {
	const people = known.map((person) => ({
		...person,
		call: callerOf(world, shape, process, person.token, (...call) => repeated?.(person.id, ...call)),
	}));
	const admin = callerOf(world, shape, process, ADMIN_TOKEN);
	return { people, driver: httpDriver({ team: '', admin, people }) };
}

/**
 * Drivers for one comparison, which call client.counts once per user. `driver` has all queries; `counts` has
 * only those that client.counts answers.
 */
export function comparing(people: readonly Person[]): { readonly driver: Driver; readonly counts: Driver } {
	const once = people.map((person) => {
		let counts: ReturnType<Call> | undefined;
		const call: Call = (method, args) => {
			if (method !== 'client.counts') return person.call(method, args);
			counts ??= person.call(method, args);
			return counts;
		};
		return { ...person, call };
	});
	const driver = httpDriver({ team: '', admin: once[0]?.call as Call, people: once });
	const { rows, badge } = driver;
	return { driver, counts: { rows, badge } as Driver };
}

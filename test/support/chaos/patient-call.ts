import { ERRORS } from '../../../src/model/errors.ts';
import { type Answer, type Call, CallFailed, rawClient } from '../api.ts';
import type { Person } from '../people.ts';

/**
 * Calls of a client that does not give up: it repeats requests that got no answer or a temporary error, unchanged. Any
 * other error fails the test.
 */

const PATIENCE_MS = 75_000;
const PAUSE_MS = 200;

export interface Repeats {
	/** Number of missing answers. */
	unanswered: number;
	/** Number of temporary errors, by code. */
	readonly rejected: Map<string, number>;
}

export const noRepeats = (): Repeats => ({ unanswered: 0, rejected: new Map() });

export function patientCall(url: string, { token }: Person, repeats: Repeats): Call {
	const call = rawClient(url, token);
	return async (method, args = {}) => {
		const end = performance.now() + PATIENCE_MS;
		for (let attempt = 1; ; attempt += 1) {
			const answer = await call(method, args).catch(() => null);
			if (answer?.ok || (attempt > 1 && answer && wasDone(method, answer))) return answer as Answer;
			if (answer && !isTemporary(answer))
				throw new CallFailed(`${method} ${JSON.stringify(args)}: ${answer.error}`);
			if (performance.now() > end)
				throw new Error(`${method} failed in ${attempt} attempts: ${JSON.stringify(answer)}`);
			note(repeats, answer);
			await Bun.sleep(PAUSE_MS);
		}
	};
}

/** Repeating is safe even after an unknown outcome: messages have a client_msg_id, and all other calls are idempotent. */
const isTemporary = ({ error = '' }: Answer): boolean =>
	error === 'outcome_unknown' || ERRORS[error as keyof typeof ERRORS]?.retry === true;

/** An unanswered attempt may have been processed. */
const wasDone = (method: string, { error = '' }: Answer): boolean =>
	method === 'chat.delete' && error === 'message_not_found';

function note(repeats: Repeats, answer: Answer | null): void {
	const { rejected } = repeats;
	if (answer === null) repeats.unanswered += 1;
	else rejected.set(answer.error ?? '', (rejected.get(answer.error ?? '') ?? 0) + 1);
}

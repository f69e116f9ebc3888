import type { Logger } from 'pino';
import { TakenOver } from '../engine/ports/taken-over.ts';
import { ERRORS, Refusal } from '../model/errors.ts';

/**
 * Failures in the log: one line for each cause, however often and wherever it occurs.
 *
 *     new ──first failure──> known: one line, with a stack only where nobody expected it
 *     known ──every minute with more of them──> one line that says how many
 *     known ──a minute without──> one line that it is over, then forgotten
 *
 * A service that cannot be reached fails everything that needs it: what fails because of it has one cause.
 */

const EVERY_MS = 60_000;
const MOST_KNOWN = 200;
const MOST_NAMED = 5;
const ADVICE = 'Clients retry; /readyz says which service is down.';
const TAKEN_OVER = 'Nothing is lost: the new owner of the partition decides it again.';

interface Cause {
	readonly text: string;
	total: number;
	/** Since the last line. */
	more: number;
	readonly where: Set<string>;
}

export class FailureLog {
	private readonly causes = new Map<string, Cause>();
	private timer: ReturnType<typeof setInterval> | undefined;

	constructor(
		private readonly log: Pick<Logger, 'error' | 'info'>,
		private readonly everyMs = EVERY_MS,
	) {}

	failed(where: string, error: unknown): void {
		const expected = expectedCause(error);
		const text = expected ?? messageOf(error);
		const key = expected ? withoutValues(expected) : `${where} ${withoutValues(text)}`;
		const known = this.causes.get(key);
		if (known) {
			known.total += 1;
			known.more += 1;
			known.where.add(where);
			return;
		}
		if (this.causes.size >= MOST_KNOWN) return;
		this.causes.set(key, { text, total: 1, more: 0, where: new Set([where]) });
		this.timer ??= setInterval(() => this.look(), this.everyMs);
		this.timer.unref();
		const advice = error instanceof TakenOver ? TAKEN_OVER : ADVICE;
		if (expected) this.log.error(`${where} failed: ${expected.replace(/\.$/, '')}. ${advice}`);
		else this.log.error({ method: where, err: error }, 'failed unexpectedly');
	}

	private look(): void {
		for (const [key, cause] of this.causes) {
			const { text, total, more, where } = cause;
			if (more === 0) {
				this.causes.delete(key);
				this.log.info(`no more failures for ${this.everyMs / 1000} s, after ${total}: ${text}`);
				continue;
			}
			const named = [...where].slice(0, MOST_NAMED).join(', ');
			this.log.error(`${more} more failures in ${this.everyMs / 1000} s (${named}): ${text}`);
			cause.more = 0;
			where.clear();
		}
		if (this.causes.size > 0) return;
		clearInterval(this.timer);
		this.timer = undefined;
	}
}

/** Of an error that passes by itself, such as a service that cannot be reached; null for all others. */
function expectedCause(error: unknown): string | null {
	if (error instanceof TakenOver) return error.message;
	if (!(error instanceof Refusal) || !ERRORS[error.code].retry) return null;
	return error.reason;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Ids, numbers and addresses differ from one occurrence to the next; so does what follows a service that failed. */
const withoutValues = (text: string): string =>
	text.replace(/: .*/s, '').replace(/\b[A-Z0-9]{9,}\b|\d+/g, '#');

import type { Logger } from 'pino';
import { WorkDiscarded } from '../engine/ports/log.ts';
import { ERRORS, messageOfError, Rejection } from '../model/errors.ts';

/**
 * Logs failures with one line for each cause, however often and wherever it occurs.
 *
 *     new ──first failure──> known: one line, with a stack only if the error is unexpected
 *     known ──a minute with more failures──> one line with their number
 *     known ──a minute without failures──> one line that the failures ended, then forgotten
 *
 * Everything that fails because one service is unreachable counts as one cause.
 */

const EVERY_MS = 60_000;
/** Further causes are not logged until a known one has ended. */
const MAX_KNOWN = 200;
const MAX_NAMED = 5;
const ADVICE = 'Clients retry; /readyz says which service is down.';

interface Cause {
	readonly text: string;
	total: number;
	/** Failures since the last line. */
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
		const text = expected ?? messageOfError(error);
		const key = expected ? withoutValues(expected) : `${where} ${withoutValues(text)}`;
		const known = this.causes.get(key);
		if (known) {
			known.total += 1;
			known.more += 1;
			known.where.add(where);
			return;
		}
		if (this.causes.size >= MAX_KNOWN) return;
		this.causes.set(key, { text, total: 1, more: 0, where: new Set([where]) });
		this.timer ??= setInterval(() => this.check(), this.everyMs);
		this.timer.unref();
		const advice = error instanceof WorkDiscarded ? error.advice : ADVICE;
		if (expected) this.log.error(`${where} failed: ${expected.replace(/\.$/, '')}. ${advice}`);
		else
			this.log.error(
				{ method: where, err: error },
				`${where} failed unexpectedly. If it happens again, report it with this stack.`,
			);
	}

	private check(): void {
		for (const [key, cause] of this.causes) {
			const { text, total, more, where } = cause;
			if (more === 0) {
				this.causes.delete(key);
				this.log.info(
					`failures have stopped: none in the last ${this.everyMs / 1000} s, ${total} before that: ${text}`,
				);
				continue;
			}
			const named = [...where].slice(0, MAX_NAMED).join(', ');
			this.log.error(`${more} more failures in ${this.everyMs / 1000} s (${named}): ${text}`);
			cause.more = 0;
			where.clear();
		}
		if (this.causes.size > 0) return;
		clearInterval(this.timer);
		this.timer = undefined;
	}
}

/**
 * The cause of an expected error: a rejection that clients retry, such as an unreachable service, or work
 * that a worker discards. Null for all other errors.
 */
function expectedCause(error: unknown): string | null {
	if (error instanceof WorkDiscarded) return error.message;
	if (!(error instanceof Rejection) || !ERRORS[error.code].retry) return null;
	return error.reason;
}

/** Removes ids, numbers and the text after the first colon, which differ between occurrences of one cause. */
const withoutValues = (text: string): string =>
	text.replace(/: .*/s, '').replace(/\b[A-Z0-9]{9,}\b|\d+/g, '#');

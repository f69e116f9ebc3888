import pino, { type Logger } from 'pino';
import type { ServerOperations } from '../../src/app/operations.ts';
import type { Scheduler } from './scheduler.ts';

/** Writes to the trace what servers report to operators. A programming error, unlike an unavailable service, ends the history. */

const quiet = pino({ level: 'silent' });

/** A logger that writes errors to the trace, and nothing else. */
export const loggerOf = (scheduler: Scheduler): Logger =>
	new Proxy(quiet, {
		get: (target, name) =>
			name === 'error'
				? ({ err, about }: { err?: Error; about?: string }, text: string) =>
						scheduler.note(`error: ${text}: ${about}: ${err?.stack ?? err}`)
				: Reflect.get(target, name),
	});

const PROGRAMMING_ERRORS = [TypeError, ReferenceError, RangeError, SyntaxError];

export function simulatedOperations(scheduler: Scheduler): ServerOperations {
	const handlers: Record<string, (...args: never[]) => unknown> = {
		failed: (about: string, error: unknown) => {
			scheduler.note(`failed: ${about}: ${error}`);
			scheduler.reached(`failed ${about}`);
			if (PROGRAMMING_ERRORS.some((kind) => error instanceof kind)) scheduler.fail(error);
		},
		warn: (text: string) => {
			scheduler.note(`warns: ${text}`);
			scheduler.reached(`warned ${text}`);
		},
		degraded: (what: string, error: Error) => {
			scheduler.note(`degraded: ${what}: ${error.message}`);
			scheduler.reached(`degraded ${what}`);
		},
		commitFailed: (error: Error) => scheduler.note(`commit failed: ${error.message}`),
	};
	return new Proxy({} as ServerOperations, {
		get: (_, name) => handlers[String(name)] ?? (() => undefined),
	});
}

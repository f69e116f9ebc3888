import type { Bus } from '../engine/ports/bus.ts';
import type { CommandEntry } from '../engine/ports/log.ts';
import { Refusal } from '../model/errors.ts';
import type { Outcome } from '../sequencer/commands.ts';

/** Tells gateways what came of their commands. */
export class Replies {
	constructor(
		private readonly bus: Bus,
		private readonly report: (error: unknown, about: string) => void,
	) {}

	reply({ replyTo }: CommandEntry, outcome: Outcome): void {
		this.bus.publish(`gateway:${replyTo.gateway}`, {
			type: 'reply',
			request: replyTo.request,
			outcome,
		});
	}

	fail(entry: CommandEntry, error: unknown): void {
		if (error instanceof Refusal) {
			const detail = error.detail === undefined ? {} : { detail: error.detail };
			this.reply(entry, { ok: false, error: error.code, ...detail });
			return;
		}
		this.report(error, `command ${entry.command.action.type}`);
		this.reply(entry, { ok: false, error: 'internal_error' });
	}
}

import type { Bus } from '../engine/ports/bus.ts';
import type { CommandRecord } from '../engine/ports/log.ts';
import { Rejection } from '../model/errors.ts';
import type { Outcome } from '../sequencer/commands.ts';

/** A command and its outcome. */
export interface Replied {
	readonly record: CommandRecord;
	readonly outcome: Outcome;
}

/** Publishes the outcomes of commands to the gateways that sent them. */
export class Replies {
	constructor(
		private readonly bus: Bus,
		private readonly report: (error: unknown, about: string) => void,
	) {}

	reply({ replyTo }: CommandRecord, outcome: Outcome): void {
		this.bus.publish(`gateway:${replyTo.gateway}`, {
			type: 'reply',
			request: replyTo.request,
			outcome,
		});
	}

	/** Publishes one worker reply per gateway; gateways of an older release get one per command. */
	replyAll(replied: readonly Replied[]): void {
		const together: Replied[] = [];
		for (const one of replied) {
			if (one.record.replyTo.together) together.push(one);
			else this.reply(one.record, one.outcome);
		}
		for (const [gateway, ofOne] of Map.groupBy(together, ({ record }) => record.replyTo.gateway))
			this.bus.publish(`gateway:${gateway}`, {
				type: 'replies',
				replies: ofOne.map(({ record, outcome }) => ({ request: record.replyTo.request, outcome })),
			});
	}

	fail(record: CommandRecord, error: unknown): void {
		if (error instanceof Rejection) {
			const detail = error.detail === undefined ? {} : { detail: error.detail };
			this.reply(record, { ok: false, error: error.code, ...detail });
			return;
		}
		this.report(error, `command ${record.command.action.type}`);
		this.reply(record, { ok: false, error: 'internal_error' });
	}
}

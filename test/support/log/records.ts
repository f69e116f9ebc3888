import type { CommandRecord, PartitionOwner } from '../../../src/engine/ports/log.ts';

/** Commands that a test can identify by their number. */

export const record = (conversation: string, request: number): CommandRecord => ({
	command: {
		conversation,
		actor: 'U01',
		team: 'T01',
		at: request,
		action: {
			type: 'post',
			content: { text: `héllo ${request}`, extra: null },
			threadTs: null,
			broadcast: false,
			clientMsgId: `id-${request}`,
		},
	},
	replyTo: { gateway: 'g1', request },
});

/** Consumes from the beginning, whatever was consumed before. */
export const fromTheBeginning: PartitionOwner = { progress: async () => 0 };

/** `about` as a function describes the state at the timeout. */
export async function until(
	condition: () => boolean,
	about: string | (() => string),
	ms = 30_000,
): Promise<void> {
	const deadline = performance.now() + ms;
	while (!condition()) {
		if (performance.now() > deadline)
			throw new Error(`not within ${ms} ms: ${typeof about === 'string' ? about : about()}`);
		await Bun.sleep(10);
	}
}

export const numbers = (count: number, from = 0): number[] =>
	Array.from({ length: count }, (_, index) => from + index);

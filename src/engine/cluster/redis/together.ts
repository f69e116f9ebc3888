import type { Cluster, Redis } from 'ioredis';
import { slotOf } from './slots.ts';
import { NOT_HERE } from './trouble.ts';

/**
 * Puts questions of one turn about many conversations together: one script for each node answers them, in the place of one for
 * each conversation, whose sending and answering would cost more than what they do. docs/adr/0024 has the figures.
 */

/** Takes the key that finds the node, what is common to all, and the questions; answers each with a string. */
type Script = (...keyAndArguments: readonly (string | number)[]) => Promise<unknown>;

interface Question {
	/** The hash tag of its keys. */
	readonly tag: string;
	readonly text: string;
	readonly answered: PromiseWithResolvers<string>;
}

/** Redis does nothing else meanwhile: so many take about a millisecond. */
const AT_ONCE = 200;

export class Together {
	private asked: Question[] = [];

	constructor(
		private readonly script: Script,
		/** The key of a tag that finds its node. */
		private readonly keyOf: (tag: string) => string,
		private readonly common: readonly (string | number)[],
		private readonly nodeOf: (tag: string) => string,
	) {}

	ask(tag: string, text: string): Promise<string> {
		if (this.asked.length === 0) queueMicrotask(() => this.send());
		const answered = Promise.withResolvers<string>();
		this.asked.push({ tag, text, answered });
		return answered.promise;
	}

	private send(): void {
		const { asked } = this;
		this.asked = [];
		for (const questions of Map.groupBy(asked, ({ tag }) => this.nodeOf(tag)).values())
			for (let from = 0; from < questions.length; from += AT_ONCE)
				void this.sendPart(questions.slice(from, from + AT_ONCE));
	}

	/** Never fails: those who asked are told. */
	private async sendPart(questions: readonly Question[]): Promise<void> {
		const key = this.keyOf(questions[0]?.tag ?? '');
		try {
			const answers = (await this.script(
				key,
				...this.common,
				...questions.map(({ text }) => text),
			)) as string[];
			for (const [index, { answered }] of questions.entries()) answered.resolve(answers[index] ?? '');
		} catch (error) {
			// Each by itself is led to wherever its slot is by now.
			if (questions.length > 1 && NOT_HERE.test(String(error)))
				for (const question of questions) void this.sendPart([question]);
			else for (const { answered } of questions) answered.reject(error);
		}
	}
}

/** Which node has the keys of a tag, as far as the client knows; with one Redis there is one. */
export function nodesOf(client: Redis | Cluster): (tag: string) => string {
	if (!('slots' in client)) return () => '';
	return (tag) => {
		const slot = slotOf(tag);
		return client.slots[slot]?.[0] ?? String(slot);
	};
}

import { Numbering } from '../../../../model/numbering.ts';
import type { Commands } from '../connection.ts';
import type { IsThere } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { type Fields, STAMP } from '../read-state/user-state.ts';
import { slotOf } from '../slots.ts';
import { CopyCache } from './copy-cache.ts';
import { UserCopy } from './user-copy.ts';

/** Copies of users' read states, looked at before each use. */

/** Ids take memory for good: beyond so many, numbers are given from the start again, and all copies are taken again. */
const MOST_NUMBERED = 2_000_000;

export class UserViews {
	numbering = new Numbering();
	private readonly cache: CopyCache<UserCopy>;

	constructor(
		private readonly commands: Commands,
		private readonly keys: Keys,
		private readonly starts: readonly number[],
		private readonly load: (user: string) => Promise<void>,
		mostBytes: number,
	) {
		this.cache = new CopyCache(mostBytes);
	}

	/** As it was when somebody looked last. */
	peek(id: string): UserCopy | undefined {
		return this.cache.get(id);
	}

	/** As it is now. */
	async look(id: string): Promise<UserCopy> {
		for (;;) {
			const { numbering, commands, keys } = this;
			const known = this.cache.get(id);
			const named = known?.named ?? ['-', 0, '-'];
			const [how, base = '', ...values] = (await commands.userView(
				keys.user(id),
				keys.userChanges(id),
				...named,
			)) as string[];
			if (how === undefined && known) {
				known.used = true;
				return known;
			}
			const fields = fieldsOf(values);
			if (how === 'd' && known) return this.keep(known.with(fields));
			if (how === 'w') return this.keep(new UserCopy(id, base, fields, numbering, this.starts));
			await this.load(id);
		}
	}

	/** This process set these fields, and its state was that of the copy before. */
	changed(copy: UserCopy, changed: Fields, stamp: string): void {
		if (this.cache.get(copy.id) === copy) this.keep(copy.with({ ...changed, [STAMP]: stamp }));
	}

	/** Forgets the copies of users there. */
	drop(isThere: IsThere): void {
		this.cache.removeIf(({ id }) => isThere(slotOf(id)));
	}

	clear(): void {
		this.cache.clear();
		if (this.numbering.size > MOST_NUMBERED) this.numbering = new Numbering();
	}

	get isFull(): boolean {
		return this.numbering.size > MOST_NUMBERED;
	}

	private keep(copy: UserCopy): UserCopy {
		this.cache.put(copy);
		return copy;
	}
}

function fieldsOf(answer: readonly string[]): Fields {
	const fields: Record<string, string> = {};
	for (let index = 0; index < answer.length; index += 2)
		fields[answer[index] as string] = answer[index + 1] as string;
	return fields;
}

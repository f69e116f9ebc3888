import { Numbering } from '../../../../model/numbering.ts';
import type { Commands } from '../connection.ts';
import type { IsOnNode } from '../fence.ts';
import type { Keys } from '../keys.ts';
import { type Fields, STAMP } from '../read-state/user-state.ts';
import { slotOf } from '../slots.ts';
import { CopyCache } from './copy-cache.ts';
import { UserCopy } from './user-copy.ts';

/** Copies of users' read states, brought up to date before each use. */

/** Numbered ids stay in memory: beyond this number, numbering starts over and all copies are dropped. */
const MAX_NUMBERED = 2_000_000;

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

	/** The copy as of the last read. */
	peek(id: string): UserCopy | undefined {
		return this.cache.get(id);
	}

	/** The current copy. */
	async read(id: string): Promise<UserCopy> {
		for (;;) {
			const { numbering, commands, keys } = this;
			const known = this.cache.get(id);
			const identity = known?.identity ?? ['-', 0, '-'];
			const [how, base = '', ...values] = (await commands.userView(
				keys.user(id),
				keys.userChanges(id),
				...identity,
			)) as string[];
			if (how === undefined && known) {
				known.used = true;
				return known;
			}
			const fields = fieldsOf(values);
			if (how === 'd' && known) return this.store(known.with(fields));
			if (how === 'w') return this.store(new UserCopy(id, base, fields, numbering, this.starts));
			await this.load(id);
		}
	}

	/** This process has set these fields on the state that the copy has. */
	changed(copy: UserCopy, changed: Fields, stamp: string): void {
		if (this.cache.get(copy.id) === copy) this.store(copy.with({ ...changed, [STAMP]: stamp }));
	}

	/** Evicts the copies of users on a node. */
	drop(isOnNode: IsOnNode): void {
		this.cache.removeIf(({ id }) => isOnNode(slotOf(id)));
	}

	clear(): void {
		this.cache.clear();
		if (this.numbering.size > MAX_NUMBERED) this.numbering = new Numbering();
	}

	get isFull(): boolean {
		return this.numbering.size > MAX_NUMBERED;
	}

	private store(copy: UserCopy): UserCopy {
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

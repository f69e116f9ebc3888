import { Numbering } from '../../../../model/numbering.ts';
import { SingleFlight } from '../../../../model/single-flight.ts';
import type { UserContext } from '../../../read-state/user.ts';
import type { EpochToken, IsOnNode } from '../epoch-guard.ts';
import { slotOf } from '../slots.ts';
import type { Context } from './context.ts';
import { confirmedSince } from './conversation-copies.ts';
import { CopyCache } from './copy-cache.ts';
import { type Fields, pairs, STORED } from './packing.ts';
import { UserCopy } from './user-copy.ts';

/**
 * Copies of users' read states, brought up to date before each use. Redis has the fields that have changed lately, and the store has
 * all others. The state of the store is read first: a field that changes in between is in Redis.
 */

/** Numbered ids stay in memory: beyond this number, numbering starts over and all copies are dropped. */
const MAX_NUMBERED = 2_000_000;

export class UserCopies {
	context: UserContext;
	private readonly cache: CopyCache<UserCopy>;
	private readonly loads = new SingleFlight<string, UserCopy>();

	constructor(
		private readonly shared: Context,
		starts: readonly number[],
	) {
		this.cache = new CopyCache(shared.viewBytes);
		this.context = { ...newNumbers(), starts, isStamped: true };
	}

	/** The copy as of the last read. */
	peek(id: string): UserCopy | undefined {
		return this.cache.get(id);
	}

	/** The current copy. */
	async read(id: string, token: EpochToken): Promise<UserCopy> {
		const { commands, keys } = this.shared;
		for (let copy = this.usable(id, token) ?? (await this.load(id, token)); ; ) {
			const { version } = copy;
			const [mode, newer = '', ...changes] = (await commands.userChanges(
				keys.fields(id),
				keys.fieldNames(id),
				...token,
				version,
			)) as string[];
			if (mode === 'w') copy = await this.load(id, token);
			else if (mode === undefined || copy.version === version) {
				if (mode !== undefined) this.update(copy, newer, pairs(changes));
				copy.checkedMs = performance.now();
				copy.used = true;
				return copy;
			}
		}
	}

	/** Sets fields if the user still has this version. Resolves to false if not. */
	async set(copy: UserCopy, version: string, fields: Fields, token: EpochToken): Promise<boolean> {
		const newer = await this.setFields(copy.id, version, fields, token);
		if (newer !== '' && copy.version === version) this.update(copy, newer, Object.entries(fields));
		return newer !== '';
	}

	/** Resolves to the new version; '' if the user has another version, or one of the expected fields has another value. */
	async setFields(
		user: string,
		expected: string | Fields,
		fields: Fields,
		token: EpochToken,
	): Promise<string> {
		const { commands, keys, ttlSeconds } = this.shared;
		const stateKeys = [keys.fields(user), keys.fieldNames(user)];
		const [version, compared] =
			typeof expected === 'string' ? [expected, []] : ['', Object.entries(expected)];
		const pairs = [...compared, ...Object.entries(fields)].flat();
		const asked = [...token, ttlSeconds, version, compared.length, ...pairs];
		return (await commands.setUser(...stateKeys, ...asked)) as string;
	}

	/** Evicts the copies of users on a node. */
	drop(isOnNode: IsOnNode): void {
		this.cache.removeIf(({ id }) => isOnNode(slotOf(id)));
	}

	/** Drops all copies if too many ids are numbered. Returns whether it did. */
	makeRoom(): boolean {
		const { userNumbers, conversationNumbers } = this.context;
		if (userNumbers.size + conversationNumbers.size <= MAX_NUMBERED) return false;
		this.cache.clear();
		this.context = { ...this.context, ...newNumbers() };
		return true;
	}

	private update(copy: UserCopy, version: string, fields: Iterable<readonly [string, string]>): void {
		copy.update(version, fields);
		if (this.cache.get(copy.id) === copy) this.cache.put(copy);
	}

	/**
	 * The cached copy, unless it has only the state of the store and is from another epoch, or was last confirmed long ago: changes may have
	 * been made and expired in between.
	 */
	private usable(id: string, [, epoch]: EpochToken): UserCopy | undefined {
		const copy = this.cache.get(id);
		if (copy?.version !== STORED) return copy;
		const isRecent = copy.checkedMs >= confirmedSince(this.shared.ttlSeconds);
		return copy.epoch === epoch && isRecent ? copy : undefined;
	}

	private load(id: string, [, epoch]: EpochToken): Promise<UserCopy> {
		return this.loads.run(`${id} ${epoch}`, async () => {
			const rows = await this.shared.source.user(id);
			const copy = new UserCopy(id, this.context, rows, epoch);
			this.cache.put(copy);
			return copy;
		});
	}
}

const newNumbers = () => ({ userNumbers: new Numbering(), conversationNumbers: new Numbering() });

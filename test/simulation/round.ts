import type { Operation } from '../support/oracle/operations.ts';
import type { Oracle } from '../support/oracle/oracle.ts';

/**
 * Selects operations that may run at the same time: their outcome must not depend on their order, or only on an order that the stamps of
 * their messages show. The oracle could not know the outcome of any others.
 */
export class Round {
	readonly operations: Operation[] = [];
	private readonly exclusive = new Set<string>();
	private readonly touched = new Set<string>();
	private readonly authors = new Set<string>();
	private readonly readers = new Set<string>();

	constructor(private readonly oracle: Oracle) {}

	/** A device of this user has the conversation in focus: the user does nothing else there. */
	addFocus(conversation: string, user: string): void {
		this.touched.add(conversation);
		this.readers.add(`${conversation} ${user}`);
	}

	/** Adds the operation if it fits. Returns whether it does. */
	offer(operation: Operation): boolean {
		const isAdmitted = this.admits(operation);
		if (isAdmitted) this.operations.push(operation);
		return isAdmitted;
	}

	private admits(operation: Operation): boolean {
		switch (operation.kind) {
			case 'post':
			case 'reply': {
				const { conversation: c, user } = operation;
				if (this.exclusive.has(c) || this.readers.has(`${c} ${user}`)) return false;
				this.touched.add(c);
				this.authors.add(`${c} ${user}`);
				return true;
			}
			case 'mark':
			case 'markUnread':
			case 'markMessage':
			case 'mute':
			case 'markThread':
			case 'markThreadUnread': {
				const { conversation: c, user } = operation;
				const key = `${c} ${user}`;
				if (this.isPastTheEnd(operation)) return this.alone([c]);
				if (this.exclusive.has(c) || this.authors.has(key) || this.readers.has(key)) return false;
				this.touched.add(c);
				this.readers.add(key);
				return true;
			}
			case 'markAllRead':
				return this.alone(Object.keys(this.oracle.rows(operation.user)));
			case 'create':
			case 'setActive':
				return false;
			default:
				return this.alone([operation.conversation]);
		}
	}

	/** A mark after the newest message moves to the newest message, and which message that is depends on the order. */
	private isPastTheEnd(operation: Operation): boolean {
		if (operation.kind === 'mark')
			return operation.ts > (this.oracle.timeline(operation.conversation).at(-1) ?? 0);
		if (operation.kind === 'markThread')
			return operation.ts > (this.oracle.replies(operation.conversation, operation.threadTs).at(-1) ?? 0);
		return false;
	}

	private alone(conversations: readonly string[]): boolean {
		if (conversations.some((c) => this.exclusive.has(c) || this.touched.has(c))) return false;
		for (const c of conversations) this.exclusive.add(c);
		return true;
	}
}

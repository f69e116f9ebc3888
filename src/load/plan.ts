/**
 * Assigns users to conversations, and to each post and mark its user and time. Everything is derived from the number
 * of a post, so that a user who receives a message knows when it was due. Pure.
 *
 * There are as many users as the larger of `members` and `online`. So either all users are online, and each
 * conversation has a run of consecutive users, which wraps around after the last user; or all users are in every
 * conversation, and the first of them are online. In both cases each message has to reach `listeners` sockets.
 */

/** The kinds and amounts of load. */
export interface Load {
	readonly conversations: number;
	readonly members: number;
	readonly online: number;
	/** Posts per second. */
	readonly rate: number;
	readonly seconds: number;
	readonly warmUp: number;
	readonly textBytes: number;
	/** Read marks per second. */
	readonly marks: number;
}

export interface Post {
	readonly conversation: number;
	readonly author: number;
}

export class Plan {
	readonly people: number;
	/** Sockets that receive each message. */
	readonly listeners: number;
	readonly posts: number;
	readonly marks: number;
	readonly warmUpMs: number;
	readonly endMs: number;

	constructor(readonly load: Load) {
		const { members, online, rate, warmUp, seconds, marks } = load;
		this.people = Math.max(members, online);
		this.listeners = Math.min(members, online);
		this.posts = rate * (warmUp + seconds);
		this.marks = marks * (warmUp + seconds);
		this.warmUpMs = warmUp * 1000;
		this.endMs = (warmUp + seconds) * 1000;
	}

	/** Users by number; those below `online` are online. */
	members(conversation: number): number[] {
		const first = this.first(conversation);
		return Array.from({ length: this.load.members }, (_, index) => (first + index) % this.people);
	}

	conversationsOf(person: number): number[] {
		const all = Array.from({ length: this.load.conversations }, (_, conversation) => conversation);
		return all.filter((one) => (person - this.first(one) + this.people) % this.people < this.load.members);
	}

	post(number: number): Post {
		const conversation = number % this.load.conversations;
		return { conversation, author: this.speaker(conversation, Math.floor(number / this.load.conversations)) };
	}

	/** The online member whose turn it is. */
	speaker(conversation: number, turn: number): number {
		const seat = turn % this.listeners;
		return this.people === this.load.online ? (this.first(conversation) + seat) % this.people : seat;
	}

	marker(number: number): number {
		return number % this.load.online;
	}

	/** Ms since the start. */
	postDueMs(number: number): number {
		return (number * 1000) / this.load.rate;
	}

	markDueMs(number: number): number {
		return (number * 1000) / this.load.marks;
	}

	/** Number of posts due by then. */
	postsBy(ms: number): number {
		return dueBy(ms, this.load.rate, this.posts);
	}

	marksBy(ms: number): number {
		return dueBy(ms, this.load.marks, this.marks);
	}

	/** Only what is due after the warm-up is measured. */
	isMeasured(dueMs: number): boolean {
		return dueMs >= this.warmUpMs;
	}

	/** The users whose counts are checked: spread evenly, so that offline users are among them. */
	sample(size: number): number[] {
		const count = Math.min(size, this.people);
		return Array.from({ length: count }, (_, index) => Math.floor((index * this.people) / count));
	}

	private first(conversation: number): number {
		return Math.floor((conversation * this.people) / this.load.conversations);
	}
}

/** The first one is due at once. */
const dueBy = (ms: number, perSecond: number, all: number): number =>
	perSecond === 0 ? 0 : Math.min(all, Math.floor((ms * perSecond) / 1000) + 1);

/** The number of the post, for receivers, padded to the wanted length. */
export const paddedText = (number: number, bytes: number): string =>
	`${number} `.padEnd(bytes, 'tidemark bench ');

export const numberIn = (text: string): number => Number.parseInt(text, 10);

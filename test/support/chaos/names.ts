/**
 * Replaces ids and times in the server's output by names that are the same in every run: users, conversations and
 * messages by their number.
 */

export interface Named {
	readonly team: string;
	readonly users: readonly string[];
	readonly conversations: readonly string[];
	/** By conversation: the ts of its messages, in the order of acknowledgement. */
	readonly posted: ReadonlyMap<string, readonly string[]>;
}

/** Fields that depend on the clock alone, and differ in every run. */
const TIMES = /"(position|event_ts|created|updated|date_create|last_set|timestamp)":("[^"]*"|\d+),?/g;
const TS = /\d{10}\.\d{6}/g;
/** Fields built from names that differ between runs: the name and the purpose of a group message. */
const GROUP_NAME = /mpdm-[\w-]+|Group messaging with:[^"\\]*/g;
/** The server sorts members by id, and ids differ between runs. */
const MEMBERS = /"members":\[([^\]]*)\]/g;
const ID = /\b[A-Z][A-Z0-9]{8,}\b/g;

export class Names {
	private readonly ids: ReadonlyMap<string, string>;

	constructor(private readonly named: Named) {
		const { team, users, conversations } = named;
		this.ids = new Map([
			[team, 'team'],
			...users.map((id, index) => [id, `user ${index}`] as const),
			...conversations.map((id, index) => [id, `conversation ${index}`] as const),
		]);
	}

	of = (id: string): string => this.ids.get(id) ?? id;

	/** An event, row or message of the conversation, as text. */
	normalise(what: unknown, conversation: string): string {
		return JSON.stringify(what)
			.replaceAll(TIMES, '')
			.replaceAll(ID, this.of)
			.replaceAll(GROUP_NAME, 'mpdm')
			.replaceAll(MEMBERS, (_, members: string) => `"members":[${members.split(',').sort()}]`)
			.replaceAll(TS, (ts) => this.place(ts, conversation));
	}

	/** `message 3` for the ts of the third message; for any other ts, how many messages come before it. */
	private place(ts: string, conversation: string): string {
		const posted = this.named.posted.get(conversation) ?? [];
		const before = posted.filter((one) => one <= ts).length;
		return posted.includes(ts) ? `message ${before}` : `after ${before} messages`;
	}
}

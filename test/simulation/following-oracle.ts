import { Oracle } from '../support/oracle/oracle.ts';
import type { BadgeItem, Row } from '../support/oracle/types.ts';

/**
 * The oracle of a history. Where the model allows several answers, it takes the first answer of the server that is within bounds. Later
 * answers must then be the same.
 */

type Rows = Readonly<Record<string, Partial<Row>>>;

export class FollowingOracle extends Oracle {
	/** By user and ts: whether the user was active when the message was sent, as learned from the server. */
	private readonly hereFor = new Map<string, boolean>();
	private readonly settled = new Set<string>();

	/** Users without a device are never active. For others the model cannot know: servers notice later that a connection was cut. */
	override readonly wasActive = (user: string, ts: number): boolean =>
		this.hereFor.get(`${user} ${ts}`) ?? false;

	/**
	 * Makes the answers learned so far final, if the log or the store has the activity. If a gateway dies
	 * before the activity of its user is durable, the activity is lost with Redis, which is allowed: no answer
	 * acknowledged it.
	 */
	settle(isDurable: (user: string, ts: number, active: boolean) => boolean): void {
		for (const [key, active] of this.hereFor) {
			const [user = '', ts] = key.split(' ');
			if (isDurable(user, Number(ts), active)) this.settled.add(key);
		}
	}

	/** Learns from the server which unread `<!here>` mention the user, except for settled ones. Returns whether anything changed. */
	learnPresence(user: string, explained: readonly BadgeItem[], rows: Rows): boolean {
		let hasChanged = false;
		for (const [id, { messages }] of this.conversations) {
			const row = this.row(user, id);
			// A server that does not have all messages yet cannot answer.
			if (!row || rows[id]?.unread_count !== row.unread_count) continue;
			const unread = new Set(this.unreads(user, id));
			const open = messages.filter(
				({ ts, text }) => unread.has(ts) && text.includes('<!here>') && !this.settled.has(`${user} ${ts}`),
			);
			// client.explain does not list channel-wide mentions in muted conversations, so only their number is known: it is assumed that they
			// are the newest messages.
			const counted = open.filter(({ ts }) => this.hereFor.get(`${user} ${ts}`)).length;
			let mentions = (rows[id]?.mention_count ?? 0) - row.mention_count + counted;
			for (const { ts } of open.reverse()) {
				const item = explained.find((one) => one.channel === id && one.ts === ts);
				mentions -= 1;
				const isActive = row.is_muted ? mentions >= 0 : (item?.reasons.includes('channel_mention') ?? false);
				hasChanged ||= this.hereFor.get(`${user} ${ts}`) !== isActive;
				this.hereFor.set(`${user} ${ts}`, isActive);
			}
		}
		return hasChanged;
	}
}

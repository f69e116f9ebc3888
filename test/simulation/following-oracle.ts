import { Oracle } from '../support/oracle/oracle.ts';
import type { BadgeItem, Row } from '../support/oracle/types.ts';

/**
 * The oracle of a history. What the model leaves open it takes from the server: once, and within bounds. From then on it has to stay so.
 */

type Rows = Readonly<Record<string, Partial<Row>>>;

export class FollowingOracle extends Oracle {
	/** Whether a user was active when a message was sent, where the server has said so. */
	private readonly hereFor = new Map<string, boolean>();
	private readonly settled = new Set<string>();

	/** Nobody who has no device. Of others it cannot be known: their connections are cut at moments of which servers learn later. */
	override readonly wasActive = (user: string, ts: number): boolean =>
		this.hereFor.get(`${user} ${ts}`) ?? false;

	/**
	 * What was learned so far has been compared, and stays, if the log or the store has it. A gateway may die before its user's activity is
	 * durable: nobody was told that it is, and it is lost with Redis.
	 */
	settle(isDurable: (user: string, ts: number, active: boolean) => boolean): void {
		for (const [key, active] of this.hereFor) {
			const [user = '', ts] = key.split(' ');
			if (isDurable(user, Number(ts), active)) this.settled.add(key);
		}
	}

	/** Takes from the server whether each `<!here>` that a user has unread spoke to them, unless it is settled. Answers whether anything changed. */
	learnPresence(user: string, explained: readonly BadgeItem[], rows: Rows): boolean {
		let hasChanged = false;
		for (const [id, { messages }] of this.conversations) {
			const row = this.row(user, id);
			// A server that does not have all messages yet says nothing about them.
			if (!row || rows[id]?.unread_count !== row.unread_count) continue;
			const unread = new Set(this.unreads(user, id));
			const open = messages.filter(
				({ ts, text }) => unread.has(ts) && text.includes('<!here>') && !this.settled.has(`${user} ${ts}`),
			);
			// Muted conversations explain nothing: who was active for some of them was so for the later ones.
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

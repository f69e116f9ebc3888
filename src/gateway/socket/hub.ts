import type { Bus, BusMessage, Topic } from '../../engine/ports/bus.ts';
import { ANY_ORIGIN, withOrigin } from '../../protocol/addresses.ts';
import { closeAll } from './closing.ts';
import type { Connection } from './connection.ts';
import type { CountsPush } from './counts-push.ts';
import { Interest } from './interest.ts';
import { ListenerRegistry } from './listener-registry.ts';
import { type JoinHooks, LiveJoins } from './live-joins.ts';
import type { SentEvents } from './sent-events.ts';
import { UserSession } from './user-session.ts';

/**
 * Live delivery by interest: the gateway subscribes to the conversations of its connected users and writes each
 * frame to their sockets. Delivery reads no member list, so its cost does not depend on the number of members.
 */

export interface HubMeters {
	delivered: number;
}

const USER_TOPIC = 'user:';

export class Hub {
	readonly meters: HubMeters = { delivered: 0 };
	private readonly sessions = new Map<string, UserSession>();
	private readonly conversations: ListenerRegistry<UserSession>;
	private readonly teams: Interest<`team:${string}`, UserSession>;
	private readonly liveJoins: LiveJoins;
	private unflushed: Connection[] = [];

	constructor(
		private readonly bus: Bus,
		readonly counts: CountsPush,
		hooks: JoinHooks,
	) {
		this.liveJoins = new LiveJoins({
			bus,
			...hooks,
			admit: (...admitted) => this.admit(...admitted),
			deliver: (session, message, topic) => this.fanOut([session], message, topic),
			recount: (session, conversation) =>
				counts.noteChange([session], { change: 'membership', conversation }),
		});
		this.conversations = new ListenerRegistry(bus, (...sent) => this.fanOut(...sent));
		this.teams = new Interest(bus, (...sent) => this.fanOut(...sent));
	}

	get users(): number {
		return this.sessions.size;
	}

	/** Number of sockets of the user at this gateway. */
	socketsOf(user: string): number {
		return this.sessions.get(user)?.connections.length ?? 0;
	}

	/** Whether this gateway is subscribed to the conversation for the user. */
	isListening(user: string, conversation: string): boolean {
		const session = this.sessions.get(user);
		return session !== undefined && this.conversations.isListening(session, conversation);
	}

	/** Runs the work after the events that are held for the user; at once if none are. */
	onceSent(user: string, work: () => void): void {
		this.sessions.get(user)?.onceSent(work);
	}

	connections(): Connection[] {
		const all: Connection[] = [];
		this.eachConnection((connection) => all.push(connection));
		return all;
	}

	/** Allocates nothing: periodic checks of idle connections would otherwise produce most of the garbage. */
	eachConnection(visit: (connection: Connection) => void): void {
		this.sessions.forEach(({ connections }) => {
			for (let index = 0; index < connections.length; index += 1) visit(connections[index] as Connection);
		});
	}

	/** Connections call this to have their frames written once per turn. */
	readonly scheduleFlush = (connection: Connection): void => {
		if (this.unflushed.length === 0) setImmediate(() => this.flush());
		this.unflushed.push(connection);
	};

	private flush(): void {
		const { unflushed } = this;
		this.unflushed = [];
		for (const connection of unflushed) connection.flush();
	}

	/** Adds a connection. It receives the events of its user's own topic from here on. */
	attach(connection: Connection): UserSession {
		const { user, team } = connection;
		const known = this.sessions.get(user);
		if (known) {
			known.connections.push(connection);
			return known;
		}
		const session = new UserSession(user, [connection], this.conversations);
		this.sessions.set(user, session);
		this.bus.subscribe(`user:${user}`, this.toUser);
		this.teams.add(`team:${team}`, session);
		return session;
	}

	/** Subscribes the session to the user's conversations. */
	listen(session: UserSession, conversations: Iterable<string>): void {
		if (session.isListening || this.sessions.get(session.user) !== session) return;
		const inside = new Set(conversations);
		for (const [conversation, isIn] of session.changesBeforeListening ?? []) {
			if (isIn) inside.add(conversation);
			else inside.delete(conversation);
		}
		session.changesBeforeListening = undefined;
		this.conversations.listen(session, inside);
	}

	detach(connection: Connection): void {
		const session = this.sessions.get(connection.user);
		const index = session?.connections.indexOf(connection) ?? -1;
		if (!session || index < 0) return;
		session.connections.splice(index, 1);
		if (session.connections.length > 0) return;
		this.sessions.delete(session.user);
		this.bus.unsubscribe(`user:${session.user}`, this.toUser);
		this.teams.remove(`team:${connection.team}`, session);
		this.conversations.leaveAll(session);
	}

	/** One function for all users, because a closure for each would take memory. */
	private readonly toUser = (message: BusMessage, topic: Topic): void => {
		const session = this.sessions.get(topic.slice(USER_TOPIC.length));
		if (!session) return;
		switch (message.type) {
			case 'joined':
			case 'left':
				this.membershipChanged(session, message.conversation, message.type === 'joined', message.at);
				break;
			case 'signed_out':
				for (const connection of [...session.connections])
					if (message.token === null || connection.tokenKey === message.token) connection.close('signed_out');
				break;
			default:
				this.fanOut([session], message, topic);
		}
	};

	private membershipChanged(session: UserSession, conversation: string, inside: boolean, at: number): void {
		if (!session.isListening) {
			session.changesBeforeListening ??= new Map();
			session.changesBeforeListening.set(conversation, inside);
			return;
		}
		if (inside === session.isIn(conversation)) return;
		if (!inside) {
			session.joining?.delete(conversation);
			session.sentAfterJoin?.delete(`live:${conversation}`);
			this.conversations.leave(session, conversation);
		} else {
			session.joining ??= new Map();
			session.joining.set(conversation, at);
			this.liveJoins.join(session, conversation, at);
		}
	}

	/** Ignores users who have left; for users who rejoined, only the newer join counts. */
	private admit(session: UserSession, conversation: string, at: number, sent: SentEvents): boolean {
		const isHere = this.sessions.get(session.user) === session;
		if (!isHere || session.joining?.get(conversation) !== at) return false;
		session.joining.delete(conversation);
		session.sentAfterJoin ??= new Map();
		session.sentAfterJoin.set(`live:${conversation}`, sent);
		this.conversations.listen(session, new Set([conversation]));
		return true;
	}

	private fanOut(sessions: readonly UserSession[], message: BusMessage, topic: Topic): void {
		// The clients reconnect and receive what they missed.
		if (message.type === 'lost') void closeAll(sessions.flatMap(({ connections }) => connections));
		if (message.type !== 'event') return;
		const { frame, at, subject, exceptUser } = message;
		// Checked once per frame, not per socket: few frames contain links.
		const hasAddress = frame.includes(ANY_ORIGIN);
		let isHeld = false;
		for (const session of sessions) {
			if (session.held) {
				session.onceSent(() => this.fanOut([session], message, topic), at);
				isHeld = true;
				continue;
			}
			if (session.user === exceptUser) continue;
			if (session.sentAfterJoin && at !== undefined && wasSent(session.sentAfterJoin, topic, subject, at))
				continue;
			for (const connection of session.connections)
				connection.send(hasAddress ? withOrigin(connection.origin, frame) : frame, at, subject);
			this.meters.delivered += session.connections.length;
		}
		if (message.about)
			this.counts.noteChange(isHeld ? sessions.filter(({ held }) => !held) : sessions, message.about);
	}
}

function wasSent(
	sentAfterJoin: Map<string, SentEvents>,
	topic: Topic,
	subject: string | undefined,
	at: number,
): boolean {
	const sent = sentAfterJoin.get(topic);
	if (!sent) return false;
	if (sent.isOverAt(at)) sentAfterJoin.delete(topic);
	return sent.includes(subject, at);
}

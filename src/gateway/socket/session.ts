import type { Admission } from '../../engine/ports/tickets.ts';
import { Rejection } from '../../model/errors.ts';
import { formatPosition } from '../../model/position.ts';
import { formatTs } from '../../model/ts.ts';
import { botIdOf, countFields, type JsonObject } from '../../protocol/objects.ts';
import { asMember, type CallContext } from '../http/access.ts';
import { encodeExtra } from '../http/message-content.ts';
import type { Services } from '../services.ts';
import { Connection, type Socket } from './connection.ts';
import type { Focus } from './focus.ts';
import {
	BadFrame,
	type ClientFrame,
	MAX_FRAME_BYTES,
	parseFrame,
	rejectedFrame,
	TOO_FAR_BEHIND,
} from './frames.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Hub } from './hub.ts';
import { MAX_WATCHED, type Presence } from './presence.ts';
import { SentEvents } from './sent-events.ts';
import type { UserSession } from './user-session.ts';

/**
 * A socket from its admission to its end: sends `hello` first, then the user's events; performs frames in the order
 * in which they arrive.
 */

export interface SessionParts {
	readonly services: Services;
	readonly hub: Hub;
	readonly presence: Presence;
	readonly focus: Focus;
	readonly heartbeat: Heartbeat;
}

/**
 * With `replies`, `hello` is also the reply to frame 1. Slack's JavaScript client waits up to two seconds for this reply
 * before it sends anything. Other clients must not get it: wee-slack treats every frame with `reply_to` as a reply.
 *
 * `missed`: the number of missed events that follow.
 */
const helloFrame = (replies: boolean, position: number, missed?: number): string =>
	JSON.stringify({
		type: 'hello',
		...(replies ? { reply_to: 1 } : {}),
		position: formatPosition(position),
		...(missed === undefined ? {} : { missed }),
	});

/** Even a slow client reads the largest resume, 4 MB, in this time. */
const RESUME_TIMEOUT_MS = 60_000;

/** Frames that are performed in order; a ping is answered at once. */
type OrderedFrame = Exclude<ClientFrame, { type: 'ping' }>;

export class SocketSession {
	readonly connection: Connection;
	private readonly isBot: boolean;
	/** The running frame and those queued behind it; undefined: none. */
	private inFlight: Promise<void> | undefined;
	/** Set by the listener: the client's address; null: unknown. */
	address: string | null = null;

	constructor(
		id: string,
		{ user, team, tokenKey, options }: Admission,
		origin: string,
		socket: Socket,
		private readonly parts: SessionParts,
	) {
		this.isBot = user.isBot;
		this.connection = new Connection(
			id,
			user.id,
			team,
			tokenKey,
			options.counts ?? false,
			socket,
			parts.hub.scheduleFlush,
			origin,
		);
	}

	/** Created on demand: there are many sockets, and most send nothing. */
	private get caller(): CallContext['caller'] {
		const { user, team } = this.connection;
		return { user: { id: user, isBot: this.isBot }, team };
	}

	/** The admission is an argument and not a field: fields stay in memory as long as the socket is open. */
	async start({ issuedAt, options }: Admission): Promise<void> {
		const { hub, presence, services } = this.parts;
		this.connection.hold();
		const session = hub.attach(this.connection);
		// Subscribe before reading, so that no revocation or join in between is missed.
		await services.bus.ready();
		// Revocations are received from here on; check for one between ticket and socket.
		const { user, tokenKey } = this.connection;
		if (!(await services.auth.isStillValid({ user, tokenKey, issuedAt })))
			this.connection.close('signed_out');
		if (this.connection.isClosed) return;
		await presence.connected(this.connection);
		const memberships = await services.readState.memberships(this.connection.user);
		hub.listen(
			session,
			memberships.map(({ conversation }) => conversation),
		);
		await services.bus.ready();
		await this.resume(session, options);
	}

	/** Sends missed events. Live events are already held and follow afterwards. */
	private async resume(
		session: UserSession,
		{ since, helloReplies = false }: Admission['options'],
	): Promise<void> {
		const { connection } = this;
		const isWanted = (): boolean => !connection.isClosed;
		if (!isWanted()) return;
		const { services } = this.parts;
		const missed = await services.sync.missed(connection.user, since, connection.wantsCounts, isWanted);
		if (!isWanted()) return;
		if ('tooFarBehind' in missed) {
			await connection.sendPaced([helloFrame(helloReplies, missed.position), TOO_FAR_BEHIND]);
			// Drops no event by its stamp: a change from before `position` may become visible only after the client has reloaded.
			connection.release(0);
			return;
		}
		const { events, frames, position, completeUpTo, recount, recountThreads } = missed;
		// If missed events follow, `hello` carries the stamp that the client resumes from: its position rises when it has received them.
		const hello = helloFrame(helloReplies, events.length > 0 ? since : position, events.length);
		await this.sendWithinBudget([hello, ...frames]);
		connection.release(completeUpTo, new SentEvents(events));
		this.parts.hub.counts.caughtUp(session, connection, recount, recountThreads);
	}

	/** Reserves the size of the frames in the memory budget until the client has read them, within a limit of time. */
	private async sendWithinBudget(frames: readonly string[]): Promise<void> {
		const { connection } = this;
		const characters = frames.reduce((sum, frame) => sum + frame.length, 0);
		const held = this.parts.services.answerMemory.hold(connection.user, characters, RESUME_TIMEOUT_MS, () =>
			connection.close('too_slow'),
		);
		if (!held) {
			connection.close('too_slow');
			return;
		}
		await connection.sendPaced(frames);
		held.release();
	}

	async end(): Promise<void> {
		this.connection.closed();
		this.parts.hub.detach(this.connection);
		this.parts.focus.ended(this.connection);
		await this.parts.presence.disconnected(this.connection);
	}

	/** The client has read everything that was sent. */
	drained(): void {
		this.parts.heartbeat.received(this.connection);
		this.connection.drained();
	}

	/** The client sent a protocol ping. */
	pinged(): void {
		this.parts.heartbeat.received(this.connection);
	}

	/** The client answered a ping: it has received everything sent before it. */
	ponged(data: string): void {
		this.parts.heartbeat.received(this.connection);
		this.parts.focus.ponged(this.connection, Number(data));
	}

	receive(text: string): void {
		if (this.connection.isClosed) return;
		this.parts.heartbeat.received(this.connection);
		if (Buffer.byteLength(text) > MAX_FRAME_BYTES) {
			this.answer(rejectedFrame(new BadFrame('the frame is larger than 16 KB'), undefined));
			this.connection.close('bad_frame');
			return;
		}
		const frame = this.read(text);
		if (!frame) return;
		if (frame.type === 'ping') {
			this.answer({ ...frame.echo, type: 'pong', ...(frame.id === undefined ? {} : { reply_to: frame.id }) });
			return;
		}
		this.parts.focus.used(this.connection);
		this.performInOrder(frame);
	}

	/**
	 * A frame starts when earlier ones are done: a blur must not overtake its focus. A post counts as done once it has
	 * started, so that posts do not wait for each other's acknowledgement.
	 */
	private performInOrder(frame: OrderedFrame): void {
		const before = this.inFlight;
		const isPost = frame.type === 'message';
		if (isPost && !before) {
			this.performAndReplyErrors(frame);
			return;
		}
		const begin = (): Promise<void> | undefined => {
			const done = this.performAndReplyErrors(frame);
			return isPost ? undefined : done;
		};
		const turn = Promise.resolve(before ? before.then(begin) : begin());
		this.inFlight = turn;
		turn.then(() => {
			if (this.inFlight === turn) this.inFlight = undefined;
		});
	}

	private async performAndReplyErrors(frame: OrderedFrame): Promise<void> {
		try {
			await this.perform(frame);
		} catch (error) {
			if (!(error instanceof Rejection) && !(error instanceof BadFrame))
				this.parts.services.operations.failed(`rtm.${frame.type}`, error);
			this.answer(rejectedFrame(error, frame.id));
		}
	}

	/** Null: the frame was rejected. Parses before limiting, so that the error carries the frame's id. */
	private read(text: string): ClientFrame | null {
		let id: number | undefined;
		try {
			const frame = readFrame(text);
			({ id } = frame);
			this.limit('requests');
			if (frame instanceof BadFrame) throw frame;
			return frame;
		} catch (error) {
			this.answer(rejectedFrame(error, id));
			return null;
		}
	}

	private async perform(frame: OrderedFrame): Promise<void> {
		const { presence, services } = this.parts;
		switch (frame.type) {
			case 'message':
				return this.post(frame);
			case 'typing':
				return this.typing(frame);
			case 'presence_sub':
				if (frame.ids.length > MAX_WATCHED) throw new BadFrame(`at most ${MAX_WATCHED} ids are allowed`);
				return presence.watch(this.connection, await this.usersOfTeam(frame.ids));
			case 'presence_query':
				if (frame.ids.length > MAX_WATCHED) throw new BadFrame(`at most ${MAX_WATCHED} ids are allowed`);
				return presence.sendPresence(this.connection, await this.usersOfTeam(frame.ids));
			case 'channel_focus':
				return this.focus(frame);
			case 'channel_blur':
				this.parts.focus.blur(this.connection, frame.channel);
				this.acknowledge(frame.id);
				return;
			case 'mark': {
				const { channel, ts, revision } = frame;
				const { row, ignored } = await asMember({ services, caller: this.caller }, channel, () =>
					services.marking.mark(this.connection.user, channel, { type: 'read', ts, revision }),
				);
				this.answer({
					ok: true,
					reply_to: frame.id,
					channel,
					...countFields(row),
					...(ignored ? { ignored: true } : {}),
				});
			}
		}
	}

	/** Without a revision, assumes that the device has seen the current one. */
	private async focus(frame: Extract<ClientFrame, { type: 'channel_focus' }>): Promise<void> {
		const { focus, services } = this.parts;
		const member = await services.readState.member(this.connection.user, frame.channel);
		if (!member) throw new Rejection('channel_not_found');
		if (this.connection.isClosed) return;
		focus.focus(this.connection, frame.channel, frame.revision ?? member.revision);
		this.acknowledge(frame.id);
	}

	private acknowledge(id: number | undefined): void {
		if (id !== undefined) this.answer({ ok: true, reply_to: id });
	}

	private async post(frame: Extract<ClientFrame, { type: 'message' }>): Promise<void> {
		this.limit('posts');
		const { user, team } = this.connection;
		const bot = this.isBot ? { bot_id: botIdOf({ id: user }) } : {};
		const { partners, requests } = this.parts.services;
		await partners.check(user, frame.channel);
		const { message } = await requests.submit({ user, team }, frame.channel, {
			type: 'post',
			content: { text: frame.text, extra: encodeExtra(bot) },
			threadTs: frame.threadTs,
			broadcast: frame.broadcast,
			clientMsgId: frame.clientMsgId,
		});
		if (!message) throw new Error('posting returned no message');
		const reply = frame.id === undefined ? {} : { reply_to: frame.id };
		this.answer({ ok: true, ...reply, ts: formatTs(message.ts), text: message.text });
	}

	private async typing(frame: Extract<ClientFrame, { type: 'typing' }>): Promise<void> {
		const { user } = this.connection;
		const member = await this.parts.services.readState.member(user, frame.channel);
		if (!member) throw new Rejection('channel_not_found');
		const thread = frame.threadTs === null ? {} : { thread_ts: formatTs(frame.threadTs) };
		this.parts.services.bus.publish(`live:${frame.channel}`, {
			type: 'event',
			frame: JSON.stringify({ type: 'user_typing', channel: frame.channel, user, ...thread }),
			exceptUser: user,
		});
	}

	/** Drops users of other workspaces. */
	private async usersOfTeam(ids: readonly string[]): Promise<string[]> {
		const users = await this.parts.services.directory.users(ids);
		return users.filter(({ team }) => team === this.connection.team).map(({ id }) => id);
	}

	private limit(what: 'requests' | 'posts'): void {
		const wait = this.parts.services.limits.take(this.connection.user, what);
		if (wait > 0) throw new Rejection('ratelimited', undefined, wait);
	}

	private answer(frame: JsonObject): void {
		this.connection.send(JSON.stringify(frame));
	}
}

/** Returns errors instead of throwing, because bad frames count against the limit too. */
function readFrame(text: string): ClientFrame | BadFrame {
	try {
		return parseFrame(text);
	} catch (error) {
		if (error instanceof BadFrame) return error;
		throw error;
	}
}

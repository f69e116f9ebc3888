import type { Admission } from '../../engine/ports/tickets.ts';
import { Refusal } from '../../model/errors.ts';
import { formatPosition } from '../../model/position.ts';
import { formatTs } from '../../model/ts.ts';
import { botIdOf, countFields, type JsonObject } from '../../protocol/objects.ts';
import { type Asking, asMember } from '../http/access.ts';
import { encodeExtra } from '../http/message-content.ts';
import type { Services } from '../services.ts';
import { Connection, type Socket } from './connection.ts';
import type { Focus } from './focus.ts';
import {
	BadFrame,
	type ClientFrame,
	MAX_FRAME_BYTES,
	parseFrame,
	refusedFrame,
	TOO_FAR_BEHIND,
} from './frames.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Hub } from './hub.ts';
import { MAX_WATCHED, type Presence } from './presence.ts';
import { SentEvents } from './sent-events.ts';
import type { UserSession } from './user-session.ts';

/**
 * A socket from its admission to its end: hello first, then the user's events; frames are done in the order
 * they come.
 */

export interface SessionParts {
	readonly services: Services;
	readonly hub: Hub;
	readonly presence: Presence;
	readonly focus: Focus;
	readonly heartbeat: Heartbeat;
}

/**
 * With `replies` hello is also the reply to frame 1, which Slack's JavaScript client waits two seconds for before it sends. Other
 * clients must not get that: wee-slack takes every frame with `reply_to` for a reply, and slack-go computes a latency from every pong.
 *
 * `missed`: so many frames follow that the client resumes with.
 */
const helloFrame = (replies: boolean, stamp: number, missed?: number): string =>
	JSON.stringify({
		type: 'hello',
		...(replies ? { reply_to: 1 } : {}),
		position: formatPosition(stamp),
		...(missed === undefined ? {} : { missed }),
	});

/** Every client that reads at all takes 4 MB in that time. */
const RESUMED_WITHIN_MS = 60_000;

/** What is done in turn; a ping is answered at once. */
type TurnFrame = Exclude<ClientFrame, { type: 'ping' }>;

export class SocketSession {
	readonly connection: Connection;
	private readonly isBot: boolean;
	private readonly helloReplies: boolean;
	/** Of the token, ms. */
	private readonly issuedAt: number;
	/** The frame that is being done, with those that wait for their turn; undefined when there is none. */
	private underWay: Promise<void> | undefined;

	constructor(
		id: string,
		admission: Admission,
		socket: Socket,
		private readonly parts: SessionParts,
	) {
		const { user, team, tokenHash, options } = admission;
		this.isBot = user.isBot;
		this.helloReplies = options.helloReplies ?? false;
		this.issuedAt = admission.issuedAt;
		this.connection = new Connection(
			id,
			user.id,
			team,
			tokenHash,
			options.counts ?? false,
			socket,
			parts.hub.scheduleFlush,
			admission.origin ?? parts.services.publicUrl ?? '',
		);
	}

	/** Made when asked for: sockets are many, and most ask for nothing. */
	private get caller(): Asking['caller'] {
		const { user, team } = this.connection;
		return { user: { id: user, isBot: this.isBot }, team };
	}

	/** `since`: the position that the client resumes from. */
	async start(since: number): Promise<void> {
		const { hub, presence, services } = this.parts;
		this.connection.hold();
		const session = hub.attach(this.connection);
		// Subscribe before looking anything up, so that no revocation or join in between is missed.
		await services.bus.ready();
		// From here on revocations are received; one between ticket and socket is looked up.
		const { user, tokenHash } = this.connection;
		const { issuedAt } = this;
		if (!(await services.auth.holds({ user, tokenHash, issuedAt }))) this.connection.close('signed_out');
		if (this.connection.isOver) return;
		await presence.connected(this.connection);
		const memberships = await services.readState.memberships(this.connection.user);
		hub.listen(
			session,
			memberships.map(({ conversation }) => conversation),
		);
		await services.bus.ready();
		await this.resume(session, since);
	}

	/** Sends what was missed. Live events are received already, and follow after it. */
	private async resume(session: UserSession, since: number): Promise<void> {
		const { connection } = this;
		const missed = await this.parts.services.sync.missed(connection.user, since, connection.wantsCounts);
		if ('tooFarBehind' in missed) {
			await connection.pour([helloFrame(this.helloReplies, missed.position), TOO_FAR_BEHIND]);
			// Something with an earlier stamp may arrive after the client has fetched everything.
			connection.release(0);
			return;
		}
		const { events, frames, position, completeUpTo, recount, threads } = missed;
		// The client is caught up when it has received all of it.
		const hello = helloFrame(this.helloReplies, events.length > 0 ? since : position, events.length);
		await this.pourHeld([hello, ...frames]);
		connection.release(completeUpTo, new SentEvents(events));
		this.parts.hub.counts.caughtUp(session, connection, recount, threads);
	}

	/** Memory for it is held until the client has taken it, which has to be soon. */
	private async pourHeld(frames: readonly string[]): Promise<void> {
		const { connection } = this;
		const characters = frames.reduce((sum, frame) => sum + frame.length, 0);
		const held = this.parts.services.answers.hold(connection.user, characters, RESUMED_WITHIN_MS, () =>
			connection.close('too_slow'),
		);
		if (!held) {
			connection.close('too_slow');
			return;
		}
		await connection.pour(frames);
		held.release();
	}

	async end(): Promise<void> {
		this.connection.closed();
		this.parts.hub.detach(this.connection);
		this.parts.focus.ended(this.connection);
		await this.parts.presence.disconnected(this.connection);
	}

	/** The client has taken what was sent. */
	drained(): void {
		this.parts.heartbeat.received(this.connection);
		this.connection.drained();
	}

	/** The client pinged by itself. */
	pinged(): void {
		this.parts.heartbeat.received(this.connection);
	}

	/** The client answered a ping: it received what was sent before it. */
	ponged(data: string): void {
		this.parts.heartbeat.received(this.connection);
		this.parts.focus.ponged(this.connection, Number(data));
	}

	receive(text: string): void {
		if (this.connection.isOver) return;
		this.parts.heartbeat.received(this.connection);
		if (Buffer.byteLength(text) > MAX_FRAME_BYTES) {
			this.answer(refusedFrame(new BadFrame('the frame is larger than 16 KB'), undefined));
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
		this.inTurn(frame);
	}

	/**
	 * A frame begins when those before it are done: a blur must not overtake its focus. A message counts as done
	 * when it is on its way, so that posts follow each other without waiting for their acknowledgements.
	 */
	private inTurn(frame: TurnFrame): void {
		const before = this.underWay;
		const isPost = frame.type === 'message';
		if (isPost && !before) {
			this.performAnswered(frame);
			return;
		}
		const begin = (): Promise<void> | undefined => {
			const done = this.performAnswered(frame);
			return isPost ? undefined : done;
		};
		const turn = Promise.resolve(before ? before.then(begin) : begin());
		this.underWay = turn;
		turn.then(() => {
			if (this.underWay === turn) this.underWay = undefined;
		});
	}

	/** Never fails: what it is refused with is answered. */
	private async performAnswered(frame: TurnFrame): Promise<void> {
		try {
			await this.perform(frame);
		} catch (error) {
			if (!(error instanceof Refusal) && !(error instanceof BadFrame))
				this.parts.services.operations.failed(`rtm.${frame.type}`, error);
			this.answer(refusedFrame(error, frame.id));
		}
	}

	/** Null: it was refused. Parsed before it is limited, so that the error carries its id. */
	private read(text: string): ClientFrame | null {
		let id: number | undefined;
		try {
			const frame = readFrame(text);
			({ id } = frame);
			this.limit('requests');
			if (frame instanceof BadFrame) throw frame;
			return frame;
		} catch (error) {
			this.answer(refusedFrame(error, id));
			return null;
		}
	}

	private async perform(frame: TurnFrame): Promise<void> {
		const { presence, services } = this.parts;
		switch (frame.type) {
			case 'message':
				return this.post(frame);
			case 'typing':
				return this.typing(frame);
			case 'presence_sub':
				if (frame.ids.length > MAX_WATCHED) throw new BadFrame(`at most ${MAX_WATCHED} ids`);
				return presence.watch(this.connection, await this.known(frame.ids));
			case 'presence_query':
				if (frame.ids.length > MAX_WATCHED) throw new BadFrame(`at most ${MAX_WATCHED} ids`);
				return presence.sendPresence(this.connection, await this.known(frame.ids));
			case 'channel_focus':
				return this.focus(frame);
			case 'channel_blur':
				this.parts.focus.blur(this.connection, frame.channel);
				this.acknowledge(frame.id);
				return;
			case 'mark': {
				const { channel, ts, revision } = frame;
				const { row, ignored } = await asMember({ services, caller: this.caller }, channel, () =>
					services.reads.mark(this.connection.user, channel, { type: 'read', ts, revision }),
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

	/** Without a revision, the device is taken to have seen the present one. */
	private async focus(frame: Extract<ClientFrame, { type: 'channel_focus' }>): Promise<void> {
		const { focus, services } = this.parts;
		const member = await services.readState.member(this.connection.user, frame.channel);
		if (!member) throw new Refusal('channel_not_found');
		if (this.connection.isOver) return;
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
		if (!member) throw new Refusal('channel_not_found');
		const thread = frame.threadTs === null ? {} : { thread_ts: formatTs(frame.threadTs) };
		this.parts.services.bus.publish(`live:${frame.channel}`, {
			type: 'event',
			frame: JSON.stringify({ type: 'user_typing', channel: frame.channel, user, ...thread }),
			exceptUser: user,
		});
	}

	/** People of other workspaces do not exist here. */
	private async known(ids: readonly string[]): Promise<string[]> {
		const users = await this.parts.services.directory.users(ids);
		return users.filter(({ team }) => team === this.connection.team).map(({ id }) => id);
	}

	private limit(what: 'requests' | 'posts'): void {
		const wait = this.parts.services.limits.take(this.connection.user, what);
		if (wait > 0) throw new Refusal('ratelimited', undefined, wait);
	}

	private answer(frame: JsonObject): void {
		this.connection.send(JSON.stringify(frame));
	}
}

/** What is wrong about a frame is a value here: it counts against the limit like any other. */
function readFrame(text: string): ClientFrame | BadFrame {
	try {
		return parseFrame(text);
	} catch (error) {
		if (error instanceof BadFrame) return error;
		throw error;
	}
}

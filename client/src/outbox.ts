import type { Api } from './api.ts';
import { backoffMs } from './backoff.ts';
import { ApiError, codeOf } from './errors.ts';
import type { Platform } from './platform.ts';
import type { PostOptions, UnsentPost, UnsentStore } from './public.ts';
import type { Message } from './types.ts';
import { toMessage, type Wire } from './wire.ts';

/**
 * Sends messages. Those of one conversation are sent one after the other, so that they arrive in the order in which
 * they were written. A message without an answer is sent again with the same client_msg_id, and the server keeps only
 * one. A message counts as sent when its answer or its event arrives, whichever comes first.
 */

export interface OutboxParts {
	readonly api: Api;
	readonly platform: Platform;
	readonly attempts: number;
	readonly self: () => string;
	readonly isOnline: () => boolean;
	/** Called when the unsent messages of the conversation, or of a thread in it, changed. */
	readonly changed: (channel: string) => void;
	/** Stores unsent messages beyond the life of the page; null: they are not stored. */
	readonly unsent: UnsentStore | null;
	/** Called when the server has the message, to show it before its event arrives. */
	readonly sent: (message: Wire, channel: string) => void;
}

interface Sending {
	message: Message;
	readonly args: Readonly<Record<string, unknown>>;
	attempts: number;
	/** When the server may first have received it. */
	firstSentAt: number;
	resolve(message: Message): void;
	reject(error: unknown): void;
}

/** The server remembers a client_msg_id for a day; later, a retry could create a second message. */
const KNOWN_FOR_MS = 23 * 60 * 60 * 1000;

const NOTHING: readonly Message[] = [];

export class Outbox {
	private readonly queues = new Map<string, Sending[]>();
	private readonly shown = new Map<string, readonly Message[]>();
	/** Conversations with a running send. The function ends the pause before a retry. */
	private readonly inFlight = new Map<string, () => void>();

	private nextId = 0;

	constructor(private readonly parts: OutboxParts) {}

	/** The unsent messages of a conversation, in order. Returns the same list until it changes. */
	of(channel: string): readonly Message[] {
		const queue = this.queues.get(channel);
		if (!queue) return NOTHING;
		const shown = this.shown.get(channel) ?? queue.map(({ message }) => message);
		this.shown.set(channel, shown);
		return shown;
	}

	post(channel: string, text: string, options: PostOptions): Promise<Message> {
		const { threadTs, broadcast, blocks, attachments, metadata, linkNames } = options;
		const clientMsgId = options.clientMsgId ?? this.newId();
		const args = {
			channel,
			text,
			client_msg_id: clientMsgId,
			...(threadTs === undefined ? {} : { thread_ts: threadTs, reply_broadcast: broadcast ?? false }),
			...(blocks ? { blocks } : {}),
			...(attachments ? { attachments } : {}),
			...(metadata === undefined ? {} : { metadata }),
			...(linkNames ? { link_names: true } : {}),
		};
		const message: Message = {
			...toMessage({ ...args, ts: '', user: this.parts.self() }, channel),
			isBroadcast: broadcast ?? false,
			status: 'sending',
		};
		const done = this.enqueue(message, args, 0);
		this.keep(this.find(channel, clientMsgId));
		void this.pump(channel);
		return done;
	}

	/**
	 * Sends the messages that this user wrote before the page was closed. The server recognises a message that it
	 * already has by its client_msg_id.
	 */
	restore(): void {
		const { unsent, self } = this.parts;
		for (const { user, args, firstSentAt, error } of unsent?.load() ?? []) {
			const channel = String(args.channel);
			if (user !== self() || this.find(channel, String(args.client_msg_id))) continue;
			const message: Message = {
				...toMessage({ ...args, ts: '', user }, channel),
				isBroadcast: args.reply_broadcast === true,
				status: error === null ? 'sending' : 'failed',
				error,
			};
			void this.enqueue(message, args, firstSentAt);
		}
	}

	/** Number of messages that are being sent or wait for a connection. Failed ones are not sent again by themselves. */
	get size(): number {
		let size = 0;
		for (const queue of this.queues.values())
			size += queue.filter(({ message }) => message.status === 'sending').length;
		return size;
	}

	private enqueue(message: Message, args: Sending['args'], firstSentAt: number): Promise<Message> {
		const { channel } = message;
		const done = new Promise<Message>((resolve, reject) => {
			const sending = { message, args, attempts: 0, firstSentAt, resolve, reject };
			this.queues.set(channel, [...(this.queues.get(channel) ?? []), sending]);
		});
		// The message shows the failure to callers that do not await this promise.
		done.catch(() => undefined);
		this.changed(channel);
		return done;
	}

	private keep(sending: Sending | undefined): void {
		if (!sending) return;
		const { args, firstSentAt, message } = sending;
		const post: UnsentPost = { user: this.parts.self(), args, firstSentAt, error: message.error };
		this.parts.unsent?.keep(String(message.clientMsgId), post);
	}

	retry(channel: string, clientMsgId: string): void {
		const sending = this.find(channel, clientMsgId);
		if (sending?.message.status !== 'failed') return;
		sending.attempts = 0;
		// The server no longer recognises the message: only the user can decide to send it as a new one.
		if (this.isForgotten(sending)) sending.firstSentAt = 0;
		this.show(sending, 'sending', null);
		void this.pump(channel);
	}

	discard(channel: string, clientMsgId: string): void {
		const sending = this.find(channel, clientMsgId);
		if (!sending) return;
		this.remove(sending);
		sending.reject(new ApiError('discarded', 'chat.postMessage'));
	}

	/** Call when the event of one of the user's own messages arrives. */
	confirm(message: Message): void {
		const sending =
			message.clientMsgId === null ? undefined : this.find(message.channel, message.clientMsgId);
		if (!sending) return;
		this.remove(sending);
		sending.resolve(message);
	}

	/** The connection is back. */
	online(): void {
		for (const endPause of this.inFlight.values()) endPause();
		for (const channel of this.queues.keys()) void this.pump(channel);
	}

	private async pump(channel: string): Promise<void> {
		if (this.inFlight.has(channel)) return;
		this.inFlight.set(channel, () => undefined);
		try {
			for (let next = this.next(channel); next && this.parts.isOnline(); next = this.next(channel))
				await this.send(next);
		} finally {
			this.inFlight.delete(channel);
		}
	}

	private next(channel: string): Sending | undefined {
		return this.queues.get(channel)?.find(({ message }) => message.status === 'sending');
	}

	private async send(sending: Sending): Promise<void> {
		const { api, platform, attempts } = this.parts;
		if (sending.firstSentAt === 0) {
			sending.firstSentAt = platform.now();
			this.keep(sending);
		}
		if (this.isForgotten(sending))
			return this.fail(sending, new ApiError('outcome_unknown', 'chat.postMessage'));
		try {
			sending.attempts += 1;
			const answer = await api.callOnce('chat.postMessage', sending.args);
			this.answered(sending, answer.message);
		} catch (error) {
			const mayRepeat = error instanceof ApiError && error.retry !== 'no' && sending.attempts < attempts;
			if (!mayRepeat) return this.fail(sending, error);
			await this.pause(sending, error.retryAfterMs + backoffMs(sending.attempts, platform.random));
		}
	}

	private isForgotten({ firstSentAt }: Sending): boolean {
		return this.parts.platform.now() - firstSentAt > KNOWN_FOR_MS;
	}

	private answered({ message: { channel, clientMsgId } }: Sending, answer: Wire): void {
		const message = { ...toMessage(answer, channel), clientMsgId };
		// The event may have arrived first. A message that arrived with an earlier attempt may have been deleted since.
		if (clientMsgId !== null && this.find(channel, clientMsgId) && !message.isTombstone)
			this.parts.sent(answer, channel);
		this.confirm(message);
	}

	private pause({ message: { channel } }: Sending, ms: number): Promise<void> {
		const { timers } = this.parts.platform;
		return new Promise((done) => {
			const timer = timers.set(done, ms);
			this.inFlight.set(channel, () => {
				timers.clear(timer);
				done();
			});
		});
	}

	private fail(sending: Sending, error: unknown): void {
		// Its event may have arrived meanwhile, or the message was discarded.
		if (!this.find(sending.message.channel, String(sending.message.clientMsgId))) return;
		this.show(sending, 'failed', codeOf(error));
		sending.reject(error);
	}

	private show(sending: Sending, status: 'sending' | 'failed', error: string | null): void {
		sending.message = { ...sending.message, status, error };
		this.keep(sending);
		this.changed(sending.message.channel);
	}

	private remove(sending: Sending): void {
		const { channel } = sending.message;
		const left = (this.queues.get(channel) ?? []).filter((one) => one !== sending);
		if (left.length > 0) this.queues.set(channel, left);
		else this.queues.delete(channel);
		this.parts.unsent?.drop(String(sending.message.clientMsgId));
		this.changed(channel);
	}

	private changed(channel: string): void {
		this.shown.delete(channel);
		this.parts.changed(channel);
	}

	private find(channel: string, clientMsgId: string): Sending | undefined {
		return this.queues.get(channel)?.find(({ message }) => message.clientMsgId === clientMsgId);
	}

	private newId(): string {
		const { now, random } = this.parts.platform;
		const digits = () => Math.floor(random() * 2 ** 48).toString(36);
		this.nextId += 1;
		return `${now().toString(36)}-${this.nextId}-${digits()}${digits()}`;
	}
}

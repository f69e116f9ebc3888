import type { ApiCall } from '../remote/api-client.ts';
import { openRtm, type RtmFrame, type RtmSocket } from '../remote/rtm.ts';
import type { FurthestMarks } from './expected.ts';
import { OrderCheck } from './order-check.ts';

/**
 * An online user: posts and marks over one socket, checks received messages, and reconnects and resumes after a
 * disconnect, as clients do.
 */

export interface Observer {
	/** Called for a received message; `repeated` only if a resume does not explain it. */
	received(text: string, ts: string, how: 'next' | 'gap' | 'repeated'): void;
	/** Called for the answer to a post or mark; `problem` if it was rejected. */
	answered(id: number, ts: string, problem: string | undefined): void;
	failed(kind: string): void;
}

const NO_ANSWER = 'no answer: the socket was closed';

/** After these errors the change may still have happened. */
const UNCERTAIN_ERRORS = ['service_unavailable', 'outcome_unknown', 'internal_error', NO_ANSWER];
export const mayHaveHappened = (problem: string): boolean => UNCERTAIN_ERRORS.includes(problem);

/** The participant does not reconnect after close codes in this range. */
const NO_RECONNECT = { from: 4200, to: 4299 };
const RECONNECT_MS = 1_000;

export class Participant {
	private readonly order = new OrderCheck();
	/** Ids of posts and marks without an answer. */
	private readonly inFlight = new Set<number>();
	private readonly markedUpTo = new Map<string, string>();
	/** Marks whose outcome is unknown. */
	private readonly unsettledMarks = new Map<number, { readonly channel: string; readonly ts: string }>();
	private socket: RtmSocket | undefined;
	private position: string | undefined;
	private newestChannel: string | undefined;
	/** Missed events arrive between `hello` and the first pong, some perhaps twice. */
	private isCatchingUp = false;
	private hasLeft = false;

	constructor(
		private readonly call: ApiCall,
		private readonly observer: Observer,
	) {}

	async connect(): Promise<void> {
		this.socket = await openRtm(
			this.call,
			{ frame: (frame) => this.receive(frame), closed: (code, reason) => this.disconnected(code, reason) },
			this.position,
		);
		if (this.hasLeft) this.leave();
	}

	/** Returns false if there is no socket. */
	post(id: number, channel: string, text: string): boolean {
		if (!this.socket) return false;
		this.send(this.socket, { id, type: 'message', channel, text });
		return true;
	}

	/** Marks the newest received message; returns false if there is none, or no socket. */
	mark(id: number): boolean {
		const channel = this.newestChannel;
		if (!this.socket || channel === undefined) return false;
		const ts = this.order.newestIn(channel);
		this.unsettledMarks.set(id, { channel, ts });
		this.send(this.socket, { id, type: 'mark', channel, ts });
		return true;
	}

	marked(channel: string): FurthestMarks {
		const acknowledged = this.markedUpTo.get(channel) ?? '';
		let tried = acknowledged;
		for (const open of this.unsettledMarks.values())
			if (open.channel === channel && open.ts > tried) tried = open.ts;
		return { acknowledged, tried };
	}

	leave(): void {
		this.hasLeft = true;
		this.socket?.close();
		this.socket = undefined;
	}

	/**
	 * Whether the message was lost. False while disconnected, and after a resync until the first message of the channel: an application
	 * would then load the missing messages.
	 */
	lacks(channel: string, ts: string): boolean {
		return this.socket !== undefined && this.order.lacks(channel, ts);
	}

	private send(socket: RtmSocket, frame: { readonly id: number; readonly [field: string]: unknown }): void {
		this.inFlight.add(frame.id);
		socket.send(frame);
	}

	private receive(frame: RtmFrame): void {
		if (frame.reply_to !== undefined && frame.ok !== undefined) {
			this.answered(frame.reply_to, frame.ts ?? '', frame.ok ? undefined : (frame.error?.msg ?? 'rejected'));
			return;
		}
		if (frame.type === 'message' && frame.subtype === undefined) this.receiveMessage(frame);
		else if (frame.type === 'hello') this.isCatchingUp = this.position !== undefined;
		else if (frame.type === 'pong') this.isCatchingUp = false;
		else if (frame.type === 'resync') {
			this.order.restart();
			this.observer.failed('resync: too far behind to resume');
		}
		// Keep the old position for a resume until all missed events have arrived. Only a position of 16 digits can be resumed from.
		if (!this.isCatchingUp && frame.position?.length === 16) this.position = frame.position;
	}

	private receiveMessage({ channel = '', prev_ts: prevTs = '', ts = '', text = '' }: RtmFrame): void {
		const how = this.order.receive(channel, prevTs, ts);
		if (how === 'repeated' && this.isCatchingUp) return;
		this.newestChannel = channel;
		this.observer.received(text, ts, how);
	}

	private answered(id: number, ts: string, problem: string | undefined): void {
		this.inFlight.delete(id);
		this.settleMark(id, problem);
		this.observer.answered(id, ts, problem);
	}

	private settleMark(id: number, problem: string | undefined): void {
		const mark = this.unsettledMarks.get(id);
		if (!mark || (problem !== undefined && mayHaveHappened(problem))) return;
		this.unsettledMarks.delete(id);
		if (problem === undefined && mark.ts > (this.markedUpTo.get(mark.channel) ?? ''))
			this.markedUpTo.set(mark.channel, mark.ts);
	}

	private disconnected(code: number, reason: string): void {
		this.socket = undefined;
		this.observer.failed(`socket closed: ${code}${reason ? ` ${reason}` : ''}`);
		// These will not be answered any more.
		for (const id of this.inFlight) this.answered(id, '', NO_ANSWER);
		if (code >= NO_RECONNECT.from && code <= NO_RECONNECT.to) return;
		void this.reconnect();
	}

	private async reconnect(): Promise<void> {
		while (!this.hasLeft && !this.socket) {
			// Spread the reconnects.
			await Bun.sleep(RECONNECT_MS * (0.5 + Math.random()));
			if (this.hasLeft) return;
			await this.connect().catch(() => this.observer.failed('could not connect again'));
		}
	}
}

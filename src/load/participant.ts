import type { ApiCall } from '../remote/api-client.ts';
import { openRtm, type RtmFrame, type RtmSocket } from '../remote/rtm.ts';
import type { Marked } from './expected.ts';
import { Following } from './following.ts';

/**
 * Somebody online: posts and marks over one socket, follows what is said, and when cut off comes back and resumes, as clients
 * do.
 */

export interface Witness {
	/** Of a received message: repeated only where nothing explains it. */
	heard(text: string, ts: string, how: 'next' | 'gap' | 'repeated'): void;
	/** To a post or a mark, by the id it was sent with; `problem` where it was refused. */
	answered(id: number, ts: string, problem: string | undefined): void;
	failed(kind: string): void;
}

const NO_ANSWER = 'no answer: the socket was closed';

/** These say that something failed, not that nothing was done. */
const OPEN_ENDS = ['service_unavailable', 'internal_error', NO_ANSWER];
export const mayHaveTakenPlace = (problem: string): boolean => OPEN_ENDS.includes(problem);

/** After these close codes it does not reconnect. */
const STAY_AWAY = { from: 4200, to: 4299 };
const COME_BACK_MS = 1_000;

export class Participant {
	private readonly following = new Following();
	/** Ids of posts and marks without an answer. */
	private readonly underWay = new Set<number>();
	private readonly markedUpTo = new Map<string, string>();
	/** Marks of which it is open what came of them. */
	private readonly openMarks = new Map<number, { readonly channel: string; readonly ts: string }>();
	private socket: RtmSocket | undefined;
	private position: string | undefined;
	private newestChannel: string | undefined;
	/** Between hello and the first pong, missed events arrive, some perhaps twice. */
	private isCatchingUp = false;
	private isOver = false;

	constructor(
		private readonly call: ApiCall,
		private readonly witness: Witness,
	) {}

	async connect(): Promise<void> {
		this.socket = await openRtm(
			this.call,
			{ frame: (frame) => this.hear(frame), closed: (code, reason) => this.lost(code, reason) },
			this.position,
		);
		if (this.isOver) this.leave();
	}

	/** False where there is no socket to send it on. */
	post(id: number, channel: string, text: string): boolean {
		if (!this.socket) return false;
		this.send(this.socket, { id, type: 'message', channel, text });
		return true;
	}

	/** Marks the newest received message; false where there is none, or no socket. */
	mark(id: number): boolean {
		const channel = this.newestChannel;
		if (!this.socket || channel === undefined) return false;
		const ts = this.following.newestIn(channel);
		this.openMarks.set(id, { channel, ts });
		this.send(this.socket, { id, type: 'mark', channel, ts });
		return true;
	}

	marked(channel: string): Marked {
		const acknowledged = this.markedUpTo.get(channel) ?? '';
		let tried = acknowledged;
		for (const open of this.openMarks.values())
			if (open.channel === channel && open.ts > tried) tried = open.ts;
		return { acknowledged, tried };
	}

	leave(): void {
		this.isOver = true;
		this.socket?.close();
		this.socket = undefined;
	}

	/** False after a disconnect or resync: missing messages are not the fault of delivery then. */
	lacks(channel: string, ts: string): boolean {
		return this.socket !== undefined && this.following.lacks(channel, ts);
	}

	private send(socket: RtmSocket, frame: { readonly id: number; readonly [field: string]: unknown }): void {
		this.underWay.add(frame.id);
		socket.send(frame);
	}

	private hear(frame: RtmFrame): void {
		if (frame.reply_to !== undefined && frame.ok !== undefined) {
			this.answered(frame.reply_to, frame.ts ?? '', frame.ok ? undefined : (frame.error?.msg ?? 'refused'));
			return;
		}
		if (frame.type === 'message' && frame.subtype === undefined) this.hearMessage(frame);
		else if (frame.type === 'hello') this.isCatchingUp = this.position !== undefined;
		else if (frame.type === 'pong') this.isCatchingUp = false;
		else if (frame.type === 'resync') {
			this.following.startAnew();
			this.witness.failed('resync: too far behind to resume');
		}
		// Until all missed events arrived, the old position is the one to resume from.
		if (!this.isCatchingUp && frame.position?.length === 16) this.position = frame.position;
	}

	private hearMessage({ channel = '', prev_ts: prevTs = '', ts = '', text = '' }: RtmFrame): void {
		const how = this.following.hear(channel, prevTs, ts);
		if (how === 'repeated' && this.isCatchingUp) return;
		this.newestChannel = channel;
		this.witness.heard(text, ts, how);
	}

	private answered(id: number, ts: string, problem: string | undefined): void {
		this.underWay.delete(id);
		this.settleMark(id, problem);
		this.witness.answered(id, ts, problem);
	}

	private settleMark(id: number, problem: string | undefined): void {
		const mark = this.openMarks.get(id);
		if (!mark || (problem !== undefined && mayHaveTakenPlace(problem))) return;
		this.openMarks.delete(id);
		if (problem === undefined && mark.ts > (this.markedUpTo.get(mark.channel) ?? ''))
			this.markedUpTo.set(mark.channel, mark.ts);
	}

	private lost(code: number, reason: string): void {
		this.socket = undefined;
		this.witness.failed(`socket closed: ${code}${reason ? ` ${reason}` : ''}`);
		// Nobody answers these any more.
		for (const id of this.underWay) this.answered(id, '', NO_ANSWER);
		if (code >= STAY_AWAY.from && code <= STAY_AWAY.to) return;
		void this.comeBack();
	}

	private async comeBack(): Promise<void> {
		while (!this.isOver && !this.socket) {
			// Not all at once.
			await Bun.sleep(COME_BACK_MS * (0.5 + Math.random()));
			if (this.isOver) return;
			await this.connect().catch(() => this.witness.failed('could not connect again'));
		}
	}
}

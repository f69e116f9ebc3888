import type { Device } from '../../engine/ports/push.ts';
import type { CachedToken } from '../cached-token.ts';
import { Http2Host } from '../http2-host.ts';
import { checkReach, outcomeOfFailure, sendAll } from '../over-http2.ts';
import type { Notification, PushOutcome, PushProvider, Withdrawal } from '../provider.ts';
import { outcomeOf } from './outcome.ts';
import { notificationMessage, withdrawalMessages } from './payload.ts';
import { accessToken, readServiceAccount, type ServiceAccount } from './token.ts';

/** Firebase Cloud Messaging, HTTP v1: Android, and browsers that registered with Firebase. */

export interface FcmOptions {
	readonly serviceAccountFile: string;
	/** https://fcm.googleapis.com */
	readonly url: string;
	readonly nowMs: () => number;
}

export class FcmProvider implements PushProvider {
	private readonly host: Http2Host;
	private readonly token: CachedToken;
	private account: Promise<ServiceAccount> | null = null;

	constructor(private readonly options: FcmOptions) {
		this.host = new Http2Host({ url: options.url, maxStreams: 200 });
		this.token = accessToken(() => this.readAccount(), options.nowMs);
	}

	notify(device: Device, notification: Notification): Promise<PushOutcome> {
		return this.send(notificationMessage(device.token, notification));
	}

	withdraw(device: Device, withdrawal: Withdrawal): Promise<PushOutcome> {
		return sendAll(withdrawalMessages(device.token, withdrawal), (message) => this.send(message));
	}

	check(): Promise<string | null> {
		return checkReach(this.token, this.host);
	}

	close(): void {
		this.host.close();
	}

	/** Reads the file again after a failure: it may have been fixed. */
	private readAccount(): Promise<ServiceAccount> {
		this.account ??= readServiceAccount(this.options.serviceAccountFile).catch((error) => {
			this.account = null;
			throw error;
		});
		return this.account;
	}

	private async send(message: object): Promise<PushOutcome> {
		try {
			const { projectId } = await this.readAccount();
			const token = await this.token.get();
			const answer = await this.host.post(
				`/v1/projects/${encodeURIComponent(projectId)}/messages:send`,
				{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
				JSON.stringify({ message }),
			);
			if (answer.status === 401) this.token.drop();
			return outcomeOf(answer, this.options.nowMs());
		} catch (error) {
			return outcomeOfFailure(error);
		}
	}
}

import type { NotificationResult } from '../engine/ports/push.ts';

/** Totals since the start, exported as metrics. */
export class Meters {
	sent = 0;
	withdrawn = 0;
	retried = 0;
	dead = 0;
	removed = 0;

	note({ type }: NotificationResult): void {
		if (type === 'sent') this.sent += 1;
		else if (type === 'again') this.retried += 1;
		else if (type === 'dead') this.dead += 1;
		else if (type === 'gone') this.removed += 1;
	}
}

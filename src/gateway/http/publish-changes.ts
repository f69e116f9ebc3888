import { EVERY_GATEWAY } from '../../engine/ports/bus.ts';
import type { User } from '../../engine/ports/store.ts';
import { teamJoinEvent, userChangeEvent } from '../../protocol/user-events.ts';
import type { Services } from '../services.ts';

/** Publishes changes of users to their workspace, and changes of apps to the gateways. */

export function publishUserChange({ bus, clock }: Pick<Services, 'bus' | 'clock'>, user: User): void {
	const frame = JSON.stringify(userChangeEvent(user, clock.last()));
	bus.publish(`team:${user.team}`, { type: 'event', frame });
}

export function publishTeamJoin({ bus }: Pick<Services, 'bus'>, user: User): void {
	bus.publish(`team:${user.team}`, { type: 'event', frame: JSON.stringify(teamJoinEvent(user)) });
}

/** Makes every gateway reload an app that was created, changed or removed. */
export function publishAppChange({ bus }: Pick<Services, 'bus'>, app: string): void {
	bus.publish(EVERY_GATEWAY, { type: 'app_changed', app });
}
